/// The longest that one exchange with a server may take, in milliseconds.
public struct OnlineDeadlines: Hashable, Sendable {
    public static let range: ClosedRange<UInt32> = 1...600_000

    /// Until each connection stands, its name resolved and its TLS included.
    public let connect: UInt32
    /// Until the answer to the question is there, over all requests that it takes.
    public let total: UInt32

    /// Values outside of ``range`` are moved into it.
    public init(connect: UInt32 = 5_000, total: UInt32 = 10_000) {
        func bounded(_ value: UInt32) -> UInt32 { min(max(value, Self.range.lowerBound), Self.range.upperBound) }
        (self.connect, self.total) = (bounded(connect), bounded(total))
    }
}
