// A sandbox for the user's editor. Every file that the editor writes is in memory, and ends with the sandbox.

internal import COMSystem
internal import Glibc

/// The process in which an editor runs, and the one file that it edits.
///
///     let sandbox = try EditorSandbox(["/bin/sh", "-c", "vim \"$@\"", "editor", EditorSandbox.path("value")], editing: "value", …)
///     try sandbox.write(secret)
///     let status = sandbox.run()
///     let file = try sandbox.open()
///
/// Make it before this process reads a secret. All processes of the sandbox end with this process, even after SIGKILL.
package struct EditorSandbox: ~Copyable {
    private let sandbox: om_sandbox
    private let name: String

    /// The path of a file, for the editor. No process outside the sandbox finds it there.
    package static func path(_ name: String) -> String { "/proc/fs/omvault/\(name)" }

    /// - Parameters:
    ///   - arguments: The editor's command line. It begins with an absolute path.
    ///   - name: The name of the edited file.
    ///   - home: The user's home folder, in which editors write their own files.
    ///   - current: The editor's current folder.
    /// - Throws: ``SandboxProblem`` if the system refuses a part of it.
    package init(
        _ arguments: [String], editing name: String, home: String?, current: String
    ) throws(SandboxProblem) {
        var words = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var made = om_sandbox()
        var step = OM_SANDBOX_PROCESS
        let failed = words.withUnsafeMutableBufferPointer { om_sandbox_make($0.baseAddress, home, current, &made, &step) }
        guard failed == 0 else { throw SandboxProblem(step, errno) }
        (sandbox, self.name) = (made, name)
    }

    deinit {
        var ended = sandbox
        om_sandbox_end(&ended)
    }

    /// Makes the file. Call it once.
    package func write(_ bytes: Span<UInt8>) throws(StorageError) {
        let file = openat(sandbox.folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .last }
        defer { close(file) }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                retryingInterrupts { Glibc.write(file, bytes.baseAddress.map { $0 + done }, bytes.count - done) }
            }
            guard count >= 0 else { throw .last }
            done += count
        }
    }

    /// Runs the editor at the terminal until it ends.
    ///
    /// - Returns: Its exit code, or 128 and the number of the signal that ended it.
    package func run() -> Int32 {
        withUnsafePointer(to: sandbox) { om_sandbox_run($0) }
    }

    /// Opens the file, or the file that the editor put in its place. The caller closes the descriptor.
    ///
    /// - Throws: ``StorageError/missing``, ``StorageError/hazardous(_:path:)`` if it is no file.
    package func open() throws(StorageError) -> Int32 {
        // Attack: the editor, or another process of this user, puts a link to another file, a pipe or a device in its place. Then
        // omvault stores the content of a file that the user did not edit, or waits for ever.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let file = retryingInterrupts { openat(sandbox.folder, name, flags) }
        guard file >= 0 else {
            if errno == ELOOP { throw .hazardous(.symbolicLink, path: Self.path(name)) }
            throw .last
        }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw .hazardous(.notRegular, path: Self.path(name))
        }
        return file
    }
}
