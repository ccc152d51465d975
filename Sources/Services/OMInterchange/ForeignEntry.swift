// What the files of other password managers have in common. Every reader makes these values, and every writer takes them.

package import OMItems
package import OMSecrets

/// An entry of another program's file, before it is fitted to a vault: names as the file has them, of any length and with any
/// character.
package struct ForeignEntry: Sendable {
    /// The names of the folders or groups around it, the outermost first.
    package var folders: [String] = []
    package var title: String
    /// Nil if the format does not say, or knows no type.
    package var type: ItemType?
    package var tags: [String] = []
    /// Seconds since 1970. Nil if the format does not say, and for an entry that never expires.
    package var created: Int64?
    package var modified: Int64?
    package var expires: Int64?
    /// Whether it is in the file's trash.
    package var isTrashed = false
    /// In the file's order. Two can have the same name.
    package var fields: [ForeignField] = []
    /// What the entry has in the file that no ``ForeignEntry`` has.
    package var losses: [ForeignLoss] = []

    package init(title: String) { self.title = title }
}

/// A field of an entry.
package final class ForeignField: Sendable {
    /// What a field is for. Writers of other formats put it in that format's own place.
    package enum Role: String, Sendable, CaseIterable {
        case username, password, url, notes, email
        /// The `otpauth` address of one-time passwords, as RFC 6238 and Google's key URI format have it.
        case otp
        /// An attached file. Its name is the field's name.
        case attachment
        case other
    }

    /// As the file has it. Empty for a role whose field has no name there.
    package let name: String
    package let role: Role
    /// Whether the format says that the value is not shown. Passwords, one-time passwords and attachments always are.
    package let isConcealed: Bool
    package let value: SecretBytes

    package init(_ name: String, _ role: Role, isConcealed: Bool, _ value: consuming SecretBytes) {
        (self.name, self.role, self.isConcealed) = (name, role, isConcealed)
        self.value = value
    }
}

/// Something in a file that omvault does not take over.
package enum ForeignLoss: Hashable, Sendable {
    /// Older versions of the entry.
    case olderVersions(Int)
    case icon
    /// The rules by which a program types the entry into windows.
    case autoType
    /// A member of the format under its own name, for example a plug-in's data.
    case member(String)
    /// The attachment of this name is not in the file, or is larger than a field can be.
    case attachment(String)
    /// The end of the entry's validity, or another time, that cannot be read.
    case time(String)
    /// A member that means something to its program alone, or a time: the file is not needed for it.
    case unneeded(String)
    /// So many further things: the list is cut.
    case more(Int)
}
