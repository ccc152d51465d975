internal import COMSystem
internal import Glibc

/// A way to call a question off from another thread, or from a signal's handler.
public final class OnlineCancellation: Sendable {
    let event = om_event()

    public init() {}

    deinit { if event >= 0 { close(event) } }

    public func cancel() { _ = om_event_raise(event) }
}
