public enum UnreachableCause: UInt8, CaseIterable, Sendable {
    case nameNotFound = 1
    case refused = 2
    /// No way there.
    case noRoute = 3
    case timedOut = 4
    /// 502, 504, 511, 521 to 524, or 503 without `Retry-After`: a gateway without anything behind it.
    case gateway = 5
    /// There is no program here that could ask. No helper says so.
    case noHelper = 6
    /// The connection ended before TLS was established. Nothing was sent.
    case closed = 7
}
