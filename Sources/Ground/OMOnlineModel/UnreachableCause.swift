public enum UnreachableCause: UInt8, CaseIterable, Sendable {
    case nameNotFound = 1
    case refused = 2
    /// There is no route to the server.
    case noRoute = 3
    case timedOut = 4
    /// 502, 504, 511, 521 to 524, or 503 without `Retry-After`: a gateway that does not reach its server.
    case gateway = 5
    /// The program that could ask is not installed here. No helper reports this cause.
    case noHelper = 6
    /// The connection ended before TLS was established. Nothing was sent.
    case closed = 7
}
