/// The tables of one kind of file, and the marks that tell it from others.
public struct Schema: Sendable {
    public let applicationID: UInt32
    public let version: UInt32
    /// Exactly the statements that make the tables; a file whose schema differs in one byte is refused.
    public let statements: [String]

    public init(applicationID: UInt32, version: UInt32, statements: [String]) {
        (self.applicationID, self.version, self.statements) = (applicationID, version, statements)
    }
}
