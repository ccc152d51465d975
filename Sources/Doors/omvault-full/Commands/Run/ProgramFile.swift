// A file with a secret, for as long as a program runs. It is in memory, and has all of a value or all of the next one.

internal import Glibc
internal import OMAgentProtocol
internal import OMSecrets
internal import OMShell
internal import Synchronization

/// A file of mode 0600 in the folder of the agent's socket.
final class ProgramFile: Sendable {
    private let folder: RuntimeFolder
    private let name: String
    /// Held while the file changes.
    private let isRemoved = Mutex(false)

    /// The path that the program gets.
    var path: String { "\(folder.path)/\(name)" }

    /// - Throws: ``ExitStatus/config`` if there is no folder in memory.
    init(of variable: String) throws {
        do throws(AgentError) { folder = try RuntimeFolder.ofUser(Environment.text, makes: true) } catch {
            guard error.meansNoAgent else { throw error }
            let cause = error == .noHome ? "HOME is not an absolute path" : "XDG_RUNTIME_DIR does not name a folder of yours"
            throw Failure(
                .config, "\(cause), so there is no place for a file",
                hint: "use a descriptor instead: --fd or --token-fd")
        }
        guard folder.isInMemory else {
            throw Failure(
                .config, "\(folder.path.shown) is on a disk, where a deleted file leaves its bytes",
                hint: "set XDG_RUNTIME_DIR to a folder on a tmpfs, or use a descriptor: --fd or --token-fd")
        }
        // The number alone can belong to a process that was killed, and left its file.
        name = "run-\(getpid())-\(Hex.encode(Random.bytes(8)))-\(variable)"
    }

    /// Puts the value into the file, in place of the one before. After ``remove()`` it writes nothing.
    func write(_ value: borrowing SecretBytes) throws(Failure) {
        try isRemoved.withLock { (isRemoved: inout Bool) throws(Failure) in
            if !isRemoved { try replace(value) }
        }
    }

    private func replace(_ value: borrowing SecretBytes) throws(Failure) {
        let draft = folder.descriptorPath(".\(name)")
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(errno) }
        defer { close(descriptor) }
        if let code = value.withBytes({ writeAll($0, to: descriptor) }) {
            unlink(draft)
            throw Self.failure(code)
        }
        guard rename(draft, folder.descriptorPath(name)) == 0 else {
            let code = errno
            unlink(draft)
            throw Self.failure(code)
        }
    }

    func remove() {
        isRemoved.withLock { isRemoved in
            isRemoved = true
            unlink(folder.descriptorPath(name))
        }
    }

    private static func failure(_ code: Int32) -> Failure { Failure(.io, "a secret cannot be put into its file", errno: code) }
}
