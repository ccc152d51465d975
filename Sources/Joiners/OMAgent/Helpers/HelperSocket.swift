// The socket that a helper is started with.

internal import COMSystem
internal import Glibc

enum HelperSocket {
    private static let descriptor: Int32 = 3

    /// The socket's descriptor. No program that this process starts would get it.
    ///
    /// The process ends with exit code 2 if no process of this user is at the other end.
    static func take() -> Int32 {
        guard om_socket_is_connected(descriptor) == 1 else { _exit(2) }
        var user: uid_t = 0
        var process: pid_t = 0
        guard om_socket_peer(descriptor, &user, &process) == 0, user == geteuid() else { _exit(2) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }
}
