// The fields of an item's sections in 1Password's export. Each has one value of a kind of its own.

internal import OMJSON
internal import OMSecrets

struct OnePasswordFields {
    /// The item's category: the fields of some have names of their own here.
    private let category: String
    private(set) var fields: [ForeignField] = []
    private(set) var losses: [ForeignLoss] = []
    /// The attached files, each with its place among the fields.
    private(set) var attachments: [(place: Int, file: OnePasswordFile)] = []
    /// The title of the field that is added.
    private var title = ""
    /// Whether a field of the section is called without the section's title.
    private var lacksHeading = false
    private var hasFields = false
    /// The titles of the fields so far.
    private var titles: Set<String> = []

    init(category: String) { self.category = category }

    mutating func add(_ section: JSONRanges, _ bytes: Span<UInt8>) {
        let heading = section["title"]?.text(in: bytes) ?? ""
        let isUsual = isUsual(section, bytes)
        (lacksHeading, hasFields) = (false, false)
        for field in section["fields"]?.elements ?? [] {
            for (kind, value) in field["value"]?.members ?? [] where !value.isNothing {
                hasFields = true
                title = field["title"]?.text(in: bytes) ?? ""
                var name = title
                if name.isEmpty { name = field["id"]?.text(in: bytes) ?? "" }
                // Two fields of one title have different sections.
                let isNew = titles.insert(name).inserted
                if !heading.isEmpty, !isUsual || !isNew { name = "\(heading) \(name)" } else { lacksHeading = true }
                add(kind, value, name, id: field["id"]?.text(in: bytes) ?? "", in: bytes)
            }
            losses += field.losses(but: Self.members, of: "a field")
        }
        if !heading.isEmpty, lacksHeading || !hasFields { losses.append(.unneeded("section \"\(heading)\"")) }
        losses += section.losses(but: ["title", "name", "fields", "hideAddAnotherField"], of: "a section")
    }

    /// The members of a field that are taken over, or mean something to 1Password's own form alone.
    private static let members: Set<String> = [
        "title", "id", "value", "indexAtSource", "guarded", "multiline", "dontGenerate", "inputTraits", "clipboardFilter",
        "placeholder",
    ]

    /// Whether each card, or each identity, has the section. Then its title says nothing.
    private func isUsual(_ section: JSONRanges, _ bytes: Span<UInt8>) -> Bool {
        let usual = ["", "name", "address", "internet", "contactInfo", "details"]
        return ["002", "004"].contains(category) && usual.contains(section["name"]?.text(in: bytes) ?? "")
    }

    private mutating func add(_ kind: String, _ value: JSONRanges, _ name: String, id: String, in bytes: Span<UInt8>) {
        switch kind {
        case "concealed", "creditCardNumber": put(value, own(name, id), role(id), isConcealed: true, in: bytes)
        case "string", "url", "phone", "menu", "gender", "creditCardType":
            put(value, own(name, id), role(id), isConcealed: false, in: bytes)
        case "totp":
            guard let secret = value.secret(in: bytes) else { return losses.append(.member(name)) }
            let role = role(.otp, name, usual: ["", "one-time password", "otp", "totp"])
            fields.append(ForeignField(role == .otp ? "" : name, role, isConcealed: true, ForeignOTP.address(secret)))
        case "email": addEmail(value, name, bytes)
        case "date": add(number: value, own(name, id), OnePasswordDate.day, bytes)
        case "monthYear": add(number: value, own(name, id), OnePasswordDate.month, bytes)
        case "address": addAddress(value, name, bytes)
        case "file": attachments.append((fields.count, OnePasswordFile(value, name, bytes)))
        case "sshKey": addKey(value, name, bytes)
        // The other item has another name here.
        case "reference": losses.append(.member("link \(name)"))
        default: addAll(value, name, bytes)
        }
    }

    /// The usual name here of a field that an item of this category always has.
    private mutating func own(_ name: String, _ id: String) -> String {
        guard let own = Self.names[category]?[id] else { return name }
        lacksHeading = true
        return own
    }

    /// The role, or a field of its own name if the title tells it from an earlier field of the role. The first one of a role
    /// loses its title, which the report says.
    private mutating func role(_ role: ForeignField.Role, _ name: String, usual: [String]) -> ForeignField.Role {
        if usual.contains(title.lowercased()) {
            lacksHeading = true
            return role
        }
        guard !fields.contains(where: { $0.role == role }) else { return .other }
        losses.append(.member("the name \"\(name)\" of a field"))
        return role
    }

    private static let names = [
        "002": ["cardholder": "holder", "ccnum": "number", "cvv": "code", "expiry": "expires", "pin": "pin"],
        "102": ["hostname": "host", "port": "port"],
        "112": ["credential": "key"],
    ]

    private mutating func role(_ id: String) -> ForeignField.Role {
        guard ["102", "110", "112"].contains(category) else { return .other }
        let role: ForeignField.Role =
            switch id {
            case "username": .username
            case "password": .password
            case "url": .url
            default: .other
            }
        if role != .other { lacksHeading = true }
        return role
    }

    private mutating func put(
        _ value: JSONRanges, _ name: String, _ role: ForeignField.Role, isConcealed: Bool,
        in bytes: Span<UInt8>
    ) {
        guard let secret = value.secret(in: bytes) else { return addAll(value, name, bytes) }
        fields.append(ForeignField(name, role, isConcealed: isConcealed, secret))
    }

    /// A text, or an object with the address and its provider.
    private mutating func addEmail(_ value: JSONRanges, _ name: String, _ bytes: Span<UInt8>) {
        guard let address = value["email_address"] else {
            guard !value.isNothing, value.members.isEmpty else { return addAll(value, name, bytes) }
            return putEmail(value, name, bytes)
        }
        if !address.isNothing { putEmail(address, name, bytes) }
        for (member, part) in value.members where member != "email_address" { addAll(part, "\(name) \(member)", bytes) }
    }

    private mutating func putEmail(_ address: JSONRanges, _ name: String, _ bytes: Span<UInt8>) {
        let role = role(.email, name, usual: ["", "email", "e-mail"])
        put(address, role == .email ? "" : name, role, isConcealed: false, in: bytes)
    }

    private mutating func add(
        number value: JSONRanges, _ name: String, _ text: (Int) -> String?, _ bytes: Span<UInt8>
    ) {
        guard let number = value.number(in: bytes), let words = text(number) else { return addAll(value, name, bytes) }
        fields.append(ForeignField(name, .other, isConcealed: false, ForeignText.value(words)))
    }

    /// One text of several lines.
    private mutating func addAddress(_ value: JSONRanges, _ name: String, _ bytes: Span<UInt8>) {
        let usual = ["street", "zip", "city", "state", "country"]
        let lines = usual.compactMap { value[$0]?.text(in: bytes) }.filter { !$0.isEmpty }
        if !lines.isEmpty {
            let text = ForeignText.value(lines.joined(separator: "\n"))
            fields.append(ForeignField(name, .other, isConcealed: false, text))
        }
        guard !value.members.isEmpty else { return addAll(value, name, bytes) }
        for (member, part) in value.members {
            if usual.contains(member), part.text(in: bytes) != nil { continue }
            addAll(part, "\(name) \(member)", bytes)
        }
    }

    /// The private key, and what 1Password tells of it.
    private mutating func addKey(_ value: JSONRanges, _ name: String, _ bytes: Span<UInt8>) {
        guard let key = value["privateKey"], !key.isNothing else { return addAll(value, name, bytes) }
        lacksHeading = true
        put(key, "private-key", .other, isConcealed: true, in: bytes)
        let facts = value["metadata"]
        for (member, part) in facts?.members ?? [] where !part.isNothing {
            switch member {
            case "publicKey": put(part, "public-key", .other, isConcealed: false, in: bytes)
            case "privateKey" where isSame(part, key, bytes): break
            // Both follow from the key.
            case "fingerprint", "keyType": losses.append(.unneeded(member))
            default: addAll(part, "\(name) \(member)", bytes)
            }
        }
        for (member, part) in value.members where member != "privateKey" && member != "metadata" {
            addAll(part, "\(name) \(member)", bytes)
        }
    }

    private func isSame(_ one: JSONRanges, _ other: JSONRanges, _ bytes: Span<UInt8>) -> Bool {
        guard let one = one.secret(in: bytes), let other = other.secret(in: bytes) else { return false }
        return one.isEqual(to: other)
    }

    /// A value of a kind that is not known: each text in it is a concealed field, so that nothing of a later 1Password is lost.
    private mutating func addAll(_ value: JSONRanges, _ name: String, _ bytes: Span<UInt8>) {
        if let secret = value.secret(in: bytes) {
            fields.append(ForeignField(name, .other, isConcealed: true, secret))
            return
        }
        for (member, part) in value.members where !part.isNothing { addAll(part, "\(name) \(member)", bytes) }
        for part in value.elements where !part.isNothing { addAll(part, name, bytes) }
    }
}

extension JSONRanges {
    /// The members that are not known.
    func losses(but known: Set<String>, of what: String) -> [ForeignLoss] {
        members.filter { !known.contains($0.name) && !$0.value.isNothing }.map { .member("\($0.name) of \(what)") }
    }
}
