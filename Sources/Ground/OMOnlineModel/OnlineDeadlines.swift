/// The longest that one exchange with a server may take, in milliseconds.
public struct OnlineDeadlines: Hashable, Sendable {
    public static let range: ClosedRange<UInt32> = 1...600_000

    /// Until a connection is established, including name lookup and TLS.
    public let connect: UInt32
    /// Until the question has its answer, over all requests that this takes.
    public let total: UInt32

    /// Values outside of ``range`` become its nearest bound.
    public init(connect: UInt32 = 5_000, total: UInt32 = 10_000) {
        func bounded(_ value: UInt32) -> UInt32 { min(max(value, Self.range.lowerBound), Self.range.upperBound) }
        (self.connect, self.total) = (bounded(connect), bounded(total))
    }
}
