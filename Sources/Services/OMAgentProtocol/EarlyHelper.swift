// A helper of requests that the small program starts, so that it is ready when omvault-full needs it.

internal import COMSystem
internal import Glibc
internal import OMSystem
internal import Synchronization

/// A helper of requests, started before its origin is known. It is confined when it learns the origin, like any other one. The
/// small program starts it, and omvault-full continues the same process.
package enum EarlyHelper {
    private static let variable = "OMVAULT_REQUEST_HELPER"
    /// How old it may be, in milliseconds: it waits 5 s for its opening.
    private static let mostAge: Int64 = 2_000

    private struct Started {
        let socket: Int32
        let child: Int32
        let at: Int64
    }

    private static let started = Mutex<Started?>(nil)

    /// Called by the small program before omvault-full continues this process. If it cannot be started, omvault-full says why.
    ///
    /// - Parameter folder: That of the program's own file.
    package static func start(in folder: String) {
        guard let program = try? AgentFile.check("\(folder)/\(AgentFile.name)"),
            let (socket, child) = try? AgentFile.startHelper(program, "--request")
        else { return }
        _ = fcntl(socket, F_SETFD, 0)
        setenv(variable, "\(getpid()) \(socket) \(child) \(bootMilliseconds())", 1)
    }

    /// Takes over what the small program started. Call it first.
    ///
    /// A value from elsewhere has another process's number, or names no child of this process, and means nothing.
    package static func adopt() {
        guard let value = getenv(variable) else { return }
        let numbers = String(cString: value).split(separator: " ").map { Int64($0) ?? -1 }
        unsetenv(variable)
        guard numbers.count == 4, numbers[0] == getpid(), let socket = Int32(exactly: numbers[1]), socket > STDERR_FILENO,
            let child = Int32(exactly: numbers[2]), om_child_is_ours(child), om_socket_is_connected(socket) == 1
        else { return }
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        started.withLock { $0 = Started(socket: socket, child: child, at: numbers[3]) }
    }

    /// The helper, once. Nil if there is none, or if it may not wait for its opening any longer.
    package static func take() -> (socket: Int32, child: Int32)? {
        let taken = started.withLock { started in
            defer { started = nil }
            return started
        }
        guard let taken else { return nil }
        guard (0...mostAge).contains(bootMilliseconds() - taken.at), om_socket_wait_for_end(taken.socket, 0) == 0 else {
            end(taken)
            return nil
        }
        return (taken.socket, taken.child)
    }

    /// Ends the helper if it was not taken.
    package static func drop() {
        if let unused = started.withLock({ $0.take() }) { end(unused) }
    }

    private static func end(_ helper: Started) {
        close(helper.socket)
        kill(helper.child, SIGKILL)
        _ = om_wait(helper.child)
    }
}
