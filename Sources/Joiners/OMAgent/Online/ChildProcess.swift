// A child process that is gone when its value is gone.

internal import COMSystem
internal import Glibc

/// A process that this one started, held by a descriptor.
///
/// Attack: a host that reaps every child, or ignores SIGCHLD, frees the id of a child that ended. The id may be another
/// process's by the time it is killed; a descriptor never means another process.
package struct ChildProcess: ~Copyable {
    private let descriptor: Int32

    /// - Parameter child: just started. Where no descriptor can be had, it is killed at once.
    package init(_ child: Int32) {
        descriptor = om_process_descriptor(child)
        // Reaped already: there is nothing left to hold.
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
