public import OMAuth

/// The result of a token exchange for an application.
public struct ExchangeReceipt: ~Copyable, Sendable {
    /// The new token, with its session.
    public let receipt: LoginReceipt
    /// Whether the agent has the token. If not, ``AgentClient/loadExchange(_:with:)`` gives it a stored one.
    public let isHeld: Bool
    /// What became of the token that was stored before.
    public let before: ExchangeEnd

    init(_ receipt: consuming LoginReceipt, isHeld: Bool, before: ExchangeEnd) {
        (self.isHeld, self.before) = (isHeld, before)
        self.receipt = receipt
    }

    /// The token and its session only.
    public consuming func takeReceipt() -> LoginReceipt { receipt }
}
