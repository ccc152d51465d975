/// A file in another program's format, as its writer makes it.
package struct ForeignFile: Sendable {
    package let bytes: [UInt8]
    /// What the format could not take as it was.
    package let changes: [ForeignChange]
}
