/// The name of a stored pair. The SDK calls its halves `TAG.private` and `TAG.public`.
public struct KeyPairTag: Hashable, Sendable {
    public let text: String

    /// - Throws: ``CryptoError/invalidTag`` for an empty tag.
    public init(_ text: String) throws(CryptoError) {
        guard !text.isEmpty else { throw .invalidTag }
        self.text = text
    }

    public var privateName: String { text + ".private" }
    public var publicName: String { text + ".public" }
}
