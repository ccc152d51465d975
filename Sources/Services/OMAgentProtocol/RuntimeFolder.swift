// The folder of the agent's socket, checked so that no other user can have put a socket there.
//
// Attack: another user creates the folder or the socket first, in a shared place, and receives keys. So the folder must
// belong to this user only, and so must the folder above it. It is held open from the check to the use. It is never below
// /tmp: there every user can take a name first, and a cleaner removes what is not used.

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

    /// Whether it is the same folder, by whichever path.
    func isSame(as other: RuntimeFolder) -> Bool {
        var (one, two) = (stat(), stat())
        guard fstat(descriptor, &one) == 0, fstat(other.descriptor, &two) == 0 else { return false }
        return one.st_dev == two.st_dev && one.st_ino == two.st_ino
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// omvault's own folder for sockets, and for files that end with the boot: `omvault` in `$XDG_RUNTIME_DIR`.
    ///
    /// If the variable is not set, as for cron and `su -`, it is `omvault` in `/run/user/UID`. Only root creates folders
    /// there. If that folder is missing too, it is `run` in the user's folder for state. No secret there
    /// outlives a boot: tickets and files of programs are written only if the folder is in memory (``isInMemory``).
    ///
    /// A variable that names a missing or unsafe folder is an error. A folder that the user did not choose would take its
    /// place, and hide the mistake.
    ///
    /// - Parameters:
    ///   - makes: Whether to create the last folder if it is missing.
    ///   - sessions: The folder with a folder for each user who is logged in.
    /// - Throws: ``AgentError/noRuntimeFolder``, ``AgentError/noHome``, ``AgentError/unsafeFolder(_:path:)``,
    ///   ``AgentError/notRunning`` if the folder is missing.
    package static func ofUser(
        _ variable: (String) -> String?, makes: Bool, sessions: String = "/run/user"
    ) throws(AgentError) -> RuntimeFolder {
        let given = variable("XDG_RUNTIME_DIR")
        guard given.map(FilePath.isAbsolute) ?? true else { throw .noRuntimeFolder }
        let above = given ?? "\(sessions)/\(geteuid())"
        do throws(AgentError) { return try below(above, makes: makes) } catch {
            guard error == .notRunning, (try? RuntimeFolder(above)) == nil else { throw error }
            guard given == nil else { throw .noRuntimeFolder }
            return try inState(variable, makes: makes)
        }
    }

    /// Every folder in which ``ofUser(_:makes:sessions:)`` can have put this socket, for any environment of this user with the
    /// same home. An unsafe folder without the socket is left out: no agent listens there.
    static func all(
        with socket: String, _ variable: (String) -> String?, sessions: String = "/run/user"
    ) -> [Result<RuntimeFolder, AgentError>] {
        var found: [Result<RuntimeFolder, AgentError>] = []
        func look(in path: String, _ open: () throws(AgentError) -> RuntimeFolder) {
            do throws(AgentError) { found.append(.success(try open())) } catch {
                var named = stat()
                if lstat("\(path)/\(socket)", &named) == 0 { found.append(.failure(error)) }
            }
        }
        let given = variable("XDG_RUNTIME_DIR").flatMap { FilePath.isAbsolute($0) ? $0 : nil }
        for above in [given, "\(sessions)/\(geteuid())"].compactMap(\.self) {
            look(in: "\(above)/omvault") { () throws(AgentError) in try below(above, makes: false) }
        }
        if let state = FilePath.stateFolder(variable) {
            look(in: "\(state)/run") { () throws(AgentError) in try inState(variable, makes: false) }
        }
        return found
    }

    private static func below(_ above: String, makes: Bool) throws(AgentError) -> RuntimeFolder {
        _ = try RuntimeFolder(above)
        return try makes ? make("\(above)/omvault") : RuntimeFolder("\(above)/omvault")
    }

    private static func inState(_ variable: (String) -> String?, makes: Bool) throws(AgentError) -> RuntimeFolder {
        guard let state = FilePath.stateFolder(variable) else { throw .noHome }
        do throws(StorageError) { _ = try makes ? PrivateFolder.make(state) : PrivateFolder(state) } catch {
            switch error {
            case .missing: throw .notRunning
            case .hazardous(let hazard, let path): throw .unsafeFolder(hazard, path: path)
            default: throw AgentError(storage: error)
            }
        }
        return try makes ? make("\(state)/run") : RuntimeFolder("\(state)/run")
    }

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
