internal import FoundationEssentials

enum UnixTime {
    /// Seconds since 1970 by this machine's clock.
    static func now() -> Int64 { Int64(Date().timeIntervalSince1970) }
}
