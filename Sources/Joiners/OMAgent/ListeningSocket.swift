// The only socket of this user's agent. The agent makes it under a lock that only one agent holds, or systemd hands it over.

internal import COMSystem
internal import Glibc
package import OMAgentProtocol

/// A socket on which the agent listens.
package final class ListeningSocket: Sendable {
    let descriptor: Int32
    let folder: RuntimeFolder
    /// Readable after a name in the folder was removed. -1 if the system watches no more folders.
    let removals: Int32
    private let inode: ino_t
    private let name: String
    /// Held until the process ends, in whatever way. Nil if systemd owns the socket.
    private let lock: Int32?
    /// In milliseconds. This is longer than an agent takes to end (``AgentServer/run()``), and shorter than
    /// its starter's wait.
    private static let leaving: Int64 = 10_000

    /// Creates the socket. The socket of a killed agent is removed, that of a live agent is not.
    ///
    /// - Throws: ``AgentError/cannotStart(_:)`` if another agent holds the folder.
    package init(_ socket: AgentSocket) throws(AgentError) {
        (folder, name) = (socket.folder, socket.name)
        lock = try Self.takeLock(socket)
        let path = folder.descriptorPath(name)
        var status = stat()
        if lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFSOCK else {
                throw .cannotStart("\(socket.path) is there and is no socket")
            }
            unlink(path)
        }
        removals = om_removals(folder.descriptorPath("."))
        descriptor = om_socket_listen(path, 256)
        guard descriptor >= 0 else { throw .io(errno) }
        guard lstat(path, &status) == 0 else { throw .io(errno) }
        inode = status.st_ino
    }

    /// Takes the socket that systemd passed, if it passed one: `LISTEN_PID`, `LISTEN_FDS`, descriptor 3.
    ///
    /// - Throws: ``AgentError/cannotStart(_:)`` if that is no listening Unix socket in a folder of this user.
    package init?(passed variable: (String) -> String?) throws(AgentError) {
        guard let process = variable("LISTEN_PID"), process == "\(getpid())" else { return nil }
        var path = [CChar](repeating: 0, count: 128)
        guard variable("LISTEN_FDS") == "1", om_socket_is_listening(3, &path, path.count) == 1 else {
            throw .cannotStart("what systemd passed is not one listening Unix socket")
        }
        let text = String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The folder is checked as if this process had made the socket.
        let socket = try AgentSocket(path: text)
        for (command, flag) in [(F_SETFD, FD_CLOEXEC), (F_SETFL, O_NONBLOCK)] {
            guard fcntl(3, command, flag) == 0 else { throw .io(errno) }
        }
        (descriptor, folder, name, lock) = (3, socket.folder, socket.name, nil)
        removals = om_removals(folder.descriptorPath("."))
        var status = stat()
        guard lstat(folder.descriptorPath(name), &status) == 0 else { throw .io(errno) }
        inode = status.st_ino
    }

    /// Whether a client still finds this socket at its path.
    ///
    /// Attack: an attacker removes the socket of a running agent. The agent would keep its keys for hours, and no
    /// `lock` would reach it. So such an agent ends.
    var isReachable: Bool {
        om_removals_seen(removals)
        var status = stat()
        return lstat(folder.descriptorPath(name), &status) == 0 && status.st_ino == inode
    }

    /// Closes the socket, so that the next client starts another agent.
    func end() {
        // The name may be that of another socket now.
        if lock != nil, isReachable { unlink(folder.descriptorPath(name)) }
        close(descriptor)
    }

    /// Removes the names of a socket that only this process has. It does not close it.
    func remove() {
        for name in [name, "\(name).lock"] { unlink(folder.descriptorPath(name)) }
    }

    private static func takeLock(_ socket: AgentSocket) throws(AgentError) -> Int32 {
        let path = socket.folder.descriptorPath("\(socket.name).lock")
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .io(errno) }
        // An agent that is ending has closed its socket, but holds the lock until the process is gone.
        let end = bootMilliseconds() + leaving
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let other = om_socket_connect(socket.folder.descriptorPath(socket.name), 0)
            if other >= 0 || bootMilliseconds() > end {
                close(other)
                close(descriptor)
                throw .cannotStart("another agent runs at \(socket.path)")
            }
            usleep(2_000)
        }
        return descriptor
    }
}
