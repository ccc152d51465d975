// A child process that ends when its value ends.

internal import COMSystem
internal import Glibc

/// A process that this one started, held by a descriptor.
///
/// Attack: a host program that reaps every child, or ignores SIGCHLD, frees the id of a child that ended. When this
/// process kills that id, it may belong to another process. A descriptor never means another process.
package struct ChildProcess: ~Copyable {
    private let descriptor: Int32

    /// - Parameter child: A process that was just started. If the system gives no descriptor for it, it is killed at once.
    package init(_ child: Int32) {
        descriptor = om_process_descriptor(child)
        // The child was reaped already, so there is nothing to hold.
        guard descriptor < 0, errno != ESRCH else { return }
        kill(child, SIGKILL)
        _ = om_wait(child)
    }

    deinit {
        guard descriptor >= 0 else { return }
        _ = om_process_end(descriptor)
        close(descriptor)
    }
}
