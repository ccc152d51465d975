// How an item becomes an entry of another program's file: the reverse of EntryFitter. One body for all formats.

package import OMItems
package import OMSecrets

extension ForeignEntry {
    /// The entry of an item, still without its fields. The name's parts before the last `/` are its folders.
    package init(of item: Item) {
        let parts = item.name.text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        // A name such as `a//b` or `/etc/x` has no folders that another program could have.
        if parts.contains(where: \.isEmpty) {
            self.init(title: item.name.text)
        } else {
            self.init(title: parts[parts.count - 1])
            folders = Array(parts.dropLast())
        }
        type = item.details.type
        tags = item.details.tags.map(\.text)
        (created, modified, expires) = (item.created, item.modified, item.details.expires)
        isTrashed = item.isTrashed
    }

    /// Adds a field of the item. A field that no text can hold, or one above 1 MiB, becomes an attachment.
    package mutating func add(_ field: Item.Field, _ value: consuming SecretBytes) {
        let isText = !field.isLarge && value.withBytes { (try? UTF8Span(validating: $0)) != nil }
        var role = isText ? Self.role(of: field.name.text) : .attachment
        // Only one field can be in a format's own place. Other addresses have a list in most formats.
        if role != .attachment, role != .other, role != .url, fields.contains(where: { $0.role == role }) { role = .other }
        let isConcealed = field.shownValue == nil
        guard role == .otp else {
            return fields.append(ForeignField(field.name.text, role, isConcealed: isConcealed, value))
        }
        let address = ForeignOTP.address(value)
        let isAddress = address.withBytes { $0.starts(with: Array("otpauth://".utf8)) }
        fields.append(ForeignField(field.name.text, isAddress ? .otp : .other, isConcealed: true, address))
    }

    private static func role(of name: String) -> ForeignField.Role {
        switch name {
        case "username": .username
        case "password": .password
        case "url": .url
        case "notes": .notes
        case "email": .email
        case "otp": .otp
        // As the importer names further addresses: `url-2`.
        case _ where name.hasPrefix("url-") && name.dropFirst(4).allSatisfy(\.isWholeNumber): .url
        default: .other
        }
    }
}
