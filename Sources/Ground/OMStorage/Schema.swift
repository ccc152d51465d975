/// The tables of one kind of file, and the two numbers that identify the kind.
package struct Schema: Sendable {
    package let applicationID: UInt32
    package let version: UInt32
    /// The exact statements that create the tables. A file whose schema differs in one byte is refused.
    package let statements: [String]

    package init(applicationID: UInt32, version: UInt32, statements: [String]) {
        (self.applicationID, self.version, self.statements) = (applicationID, version, statements)
    }
}
