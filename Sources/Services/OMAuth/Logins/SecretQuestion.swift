/// A server's question.
public struct SecretQuestion: Hashable, Sendable {
    public let text: String

    public init(_ text: String) { self.text = text }
}
