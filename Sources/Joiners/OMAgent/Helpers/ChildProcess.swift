// A child process that ends when its value ends.

internal import COMSystem
internal import Glibc
internal import OMSystem

/// A process that this one started, held by a descriptor.
///
/// Attack: a host program that reaps every child, or ignores SIGCHLD, frees the id of a child that ended. When this
/// process kills that id, it may belong to another process. A descriptor never means another process.
package struct ChildProcess: ~Copyable {
    private let descriptor: Int32
    private let waits: Bool

    /// - Parameters:
    ///   - child: A process that was just started. If the system gives no descriptor for it, it is killed at once.
    ///   - waits: Whether the end of this value waits for the end of the process. If not, a thread waits.
    package init(_ child: Int32, waits: Bool = true) {
        self.waits = waits
        descriptor = om_process_descriptor(child)
        // The child was reaped already, so there is nothing to hold.
        guard descriptor < 0, errno != ESRCH else { return }
        kill(child, SIGKILL)
        _ = om_wait(child)
    }

    /// Waits at most `milliseconds` for its end.
    borrowing func waitForEnd(within milliseconds: Int64) {
        guard descriptor >= 0 else { return }
        let end = om_boot_milliseconds() + milliseconds
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, Int32(clamping: max(0, end - om_boot_milliseconds()))) < 0, errno == EINTR {}
    }

    deinit {
        guard descriptor >= 0 else { return }
        let descriptor = descriptor
        if waits { return Self.end(descriptor) }
        DetachedThread.startOrRunHere(stack: 256 << 10) { Self.end(descriptor) }
    }

    private static func end(_ descriptor: Int32) {
        _ = om_process_end(descriptor)
        close(descriptor)
    }
}
