// Where the agent's socket stands, and why nobody else can have put one there.
//
// Attack: another user makes the folder or the socket first, in a shared place, and is handed keys. So the folder must
// be ours alone, it is held open from the check to the use, and there is no fallback under /tmp.

internal import COMSystem
internal import Glibc
internal import OMSystem

/// A folder of ours with mode 0700, held open.
final class RuntimeFolder: Sendable {
    let path: String
    private let descriptor: Int32

    /// - Throws: ``AgentError/notRunning`` when it is not there, ``AgentError/unsafeFolder(_:path:)``.
    init(_ path: String) throws(AgentError) {
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

    /// The folder, made if it is not there.
    static func make(_ path: String) throws(AgentError) -> RuntimeFolder {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .io(errno) }
        return try RuntimeFolder(path)
    }

    /// A name in the very folder that was checked, whatever its path leads to by now; short enough for a socket too.
    func descriptorPath(_ name: String) -> String { "/proc/self/fd/\(descriptor)/\(name)" }

    /// Whether what is in it is gone at reboot.
    var isInMemory: Bool { om_is_in_memory(descriptor) == 1 }
}
