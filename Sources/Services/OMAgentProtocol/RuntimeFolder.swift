// The folder of the agent's socket, checked so that no other user can have put a socket there.
//
// Attack: another user creates the folder or the socket first, in a shared place, and receives keys. So the folder must
// belong to this user only. It is held open from the check to the use. There is no fallback under /tmp.

internal import COMSystem
internal import Glibc
internal import OMSystem

/// A folder of this user with mode 0700, held open.
package final class RuntimeFolder: Sendable {
    package let path: String
    private let descriptor: Int32

    /// - Throws: ``AgentError/notRunning`` if it is missing, ``AgentError/unsafeFolder(_:path:)``.
    package init(_ path: String) throws(AgentError) {
        self.path = path
        var named = stat()
        guard lstat(path, &named) == 0 else { throw errno == ENOENT ? .notRunning : .io(errno) }
        guard named.st_mode & S_IFMT != S_IFLNK else { throw .unsafeFolder(.symbolicLink, path: path) }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw errno == ENOTDIR ? .unsafeFolder(.notAFolder, path: path) : .io(errno) }
        do throws(StorageError) { try FileTrust.own.check(open: descriptor, .folder, at: path) } catch {
            guard case .hazardous(let hazard, _) = error else { throw .io(errno) }
            throw .unsafeFolder(hazard, path: path)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The folder. It is created if it is missing.
    package static func make(_ path: String) throws(AgentError) -> RuntimeFolder {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .io(errno) }
        return try RuntimeFolder(path)
    }

    /// A path for a name in the checked folder, even if the folder's own path now leads elsewhere. It is short
    /// enough for a socket.
    package func descriptorPath(_ name: String) -> String { "/proc/self/fd/\(descriptor)/\(name)" }

    /// Whether a reboot deletes everything in it.
    package var isInMemory: Bool { om_is_in_memory(descriptor) == 1 }
}
