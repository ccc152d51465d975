// The file of the agent's program: who may have changed it, and how it is started.

internal import COMSystem
internal import Glibc
internal import OMSystem

/// The agent's program. Its helpers are the same program.
package enum AgentFile {
    package static let name = "omvault-agent"
    /// Freed memory is overwritten, so that names and other text that is not a secret do not stay there either. malloc
    /// reads this before `main`, so it is in the environment.
    package static let environment = (
        name: "GLIBC_TUNABLES", value: "glibc.malloc.tcache_count=0:glibc.malloc.perturb=90"
    )

    /// Starts a helper.
    ///
    /// - Parameters:
    ///   - program: The path that ``check(_:)`` returned.
    ///   - option: The program's only argument.
    /// - Returns: This process's end of its socket, and the id of the new process.
    package static func startHelper(_ program: String, _ option: String) throws(AgentError) -> (socket: Int32, child: Int32) {
        var ends: [Int32] = [-1, -1]
        guard om_socket_pair(&ends) == 0 else { throw .io(errno) }
        let child = spawnDetached(program, [option], ends[1])
        let failure = errno
        close(ends[1])
        guard child > 0 else {
            close(ends[0])
            throw .io(failure)
        }
        return (ends[0], child)
    }

    /// Starts the program in its own session, with `descriptor` as descriptor 3. Returns its id, or -1 with `errno`.
    package static func spawnDetached(_ program: String, _ options: [String], _ descriptor: Int32) -> Int32 {
        // The new process gets none of our variables: one could control the loader, and one could contain a secret.
        let environment = ["\(environment.name)=\(environment.value)", "PATH=/usr/bin:/bin"]
        return withStrings([program] + options) { arguments in
            withStrings(environment) { om_spawn_detached(program, arguments, $0, descriptor) }
        }
    }

    /// The same with the variables of this process.
    package static func spawnInBackground(_ program: String, _ options: [String], _ descriptor: Int32) -> Int32 {
        withStrings([program] + options) { om_spawn_detached(program, $0, environ, descriptor) }
    }

    /// Checks that only root and this user can have changed the program and every folder above it.
    ///
    /// Attack: another user writes the program, or renames another file over it or over a folder above it. That user
    /// would get every key that is unlocked. So such a program is refused.
    ///
    /// - Returns: The program's path without links. Start this path.
    /// - Throws: ``AgentError/programMissing(_:)``, ``AgentError/unsafeProgram(_:)``.
    @discardableResult
    package static func check(_ program: String) throws(AgentError) -> String {
        guard FilePath.isAbsolute(program) else { throw .programMissing(program) }
        // The folder is checked first. In a folder that other users can change, they decide whether the program exists.
        guard let folder = FilePath.resolved(FilePath.folder(of: program)) else { throw .programMissing(program) }
        do throws(StorageError) { try PrivateFolder.checkOwned(folder, by: geteuid()) } catch {
            guard case .hazardous(_, let path) = error else { throw .programMissing(program) }
            throw .unsafeProgram(path)
        }
        let path = (folder == "/" ? "/" : folder + "/") + FilePath.name(of: program)
        var status = stat()
        guard lstat(path, &status) == 0 else { throw .programMissing(program) }
        if status.st_mode & S_IFMT == S_IFLNK {
            guard let target = FilePath.resolved(path) else { throw .programMissing(program) }
            return try check(target)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .programMissing(program) }
        do throws(StorageError) { try FileTrust.writable(by: [0, geteuid()]).check(status, .file, at: path) } catch {
            throw .unsafeProgram(path)
        }
        return path
    }

    private static func withStrings<R>(
        _ words: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        var copies = words.map { strdup($0) } + [nil]
        defer { copies.forEach { free($0) } }
        return copies.withUnsafeMutableBufferPointer { copies in
            guard let base = copies.baseAddress else { preconditionFailure("a list of words ends with a null") }
            return body(UnsafePointer(base))
        }
    }
}
