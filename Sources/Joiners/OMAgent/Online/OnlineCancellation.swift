internal import COMSystem
internal import Glibc

/// Cancels a question from another thread, or from a signal's handler.
package final class OnlineCancellation: Sendable {
    let event = om_event()

    package init() {}

    deinit { if event >= 0 { close(event) } }

    package func cancel() { _ = om_event_raise(event) }
}
