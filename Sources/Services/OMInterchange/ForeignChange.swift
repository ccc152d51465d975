/// A value that another program's format takes in another place or under another name only. Nothing of it is lost.
package struct ForeignChange: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A field, a folder or a tag.
        case renamed(String, to: String)
        /// The field of this name is not shown in the other program.
        case concealed(String)
        /// The field of this name is an attachment.
        case attached(String)
    }

    /// The entry's place in the list that was written.
    package let entry: Int
    package let kind: Kind
}
