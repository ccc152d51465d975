#if Server
// The server's time. Tests have one of their own.

internal import Glibc

package struct ServerClock: Sendable {
    /// Seconds since 1970.
    package let now: @Sendable () -> Int64

    package init(_ now: @escaping @Sendable () -> Int64) { self.now = now }

    package static let system = ServerClock { Int64(time(nil)) }
}
#endif
