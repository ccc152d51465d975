// The user's editor, and the sandbox in which it edits secrets.

internal import Glibc
internal import OMSecrets
internal import OMShell
internal import OMSystem

/// An editor that is ready to run, with the text that it edits.
///
///     let editor = try Editor(context, editing: "value", instead: "omvault set github:token")
///     try editor.write(secret)
///     try editor.run()
///     let typed = try editor.text(maximum: Item.maximumFieldCount)
struct Editor: ~Copyable {
    private let command: String
    private let sandbox: EditorSandbox

    /// Make it before a secret is read: another process of this user could read the memory of the sandbox's first process for a
    /// moment.
    ///
    /// - Parameters:
    ///   - name: The name of the file, which an editor shows. It never holds an item's name.
    ///   - other: A command that does the same without an editor.
    /// - Throws: ``ExitStatus/inputRequired``, ``ExitStatus/editor`` if no editor is found, ``ExitStatus/unsupported`` if the
    ///   system does not allow the sandbox.
    init(_ context: CommandContext, editing name: String, instead other: String) throws(Failure) {
        guard context.terminal.mayAsk else {
            throw Failure(.inputRequired, "an editor is needed, and --no-input forbids it", hint: other)
        }
        let command = try Self.command(context.terminal, instead: other)
        // Attack: a name with a shell's characters runs a program. The file's path is a word of its own, and always the same.
        let arguments = ["/bin/sh", "-c", Self.line(command), "editor", EditorSandbox.path(name)]
        sandbox = try Self.sandbox(arguments, editing: name, instead: other)
        self.command = command
    }

    /// The shell's line. A plain command takes the shell's place: if the shell stays and the editor stops only itself, nothing tells
    /// omvault that it stopped, and the terminal hangs. Commands with quotes, assignments or operators need the shell.
    private static func line(_ command: String) -> String {
        let isPlain = command.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: " ./_+-,".utf8.contains(byte)
            }
        }
        return (isPlain ? "exec " : "") + command + " \"$@\""
    }

    private static func sandbox(
        _ arguments: [String], editing name: String, instead other: String
    ) throws(Failure) -> EditorSandbox {
        do throws(SandboxProblem) {
            return try EditorSandbox(
                arguments, editing: name, home: Environment.text("HOME"), current: AbsolutePath.absolute("."))
        } catch { throw Failure(error, instead: other) }
    }

    /// Writes the text to edit. Call it once.
    borrowing func write(_ text: borrowing SecretBytes) throws(Failure) {
        do throws(StorageError) {
            try text.withBytes { (bytes) throws(StorageError) in try sandbox.write(bytes) }
        } catch { throw Failure(error) }
    }

    /// Lets the user edit the text.
    ///
    /// - Throws: ``ExitStatus/editor`` unless the editor exits with 0.
    borrowing func run() throws(Failure) {
        let status = sandbox.run()
        switch status {
        case 0: return
        case 126, 127:
            throw Failure(
                .editor, "the editor did not start: \(command)",
                hint: "VISUAL or EDITOR names the editor, such as EDITOR=nano; nothing was changed")
        case 129...:
            throw Failure(
                .editor, "the editor was ended by signal \(status - 128); nothing was changed", hint: "run the command again")
        default:
            throw Failure(
                .editor, "the editor ended with exit code \(status); nothing was changed",
                hint: "to store a change, save it and leave the editor without an error")
        }
    }

    /// What the editor left in the file.
    borrowing func text(maximum: Int) throws(Failure) -> SecretBytes {
        let file: Int32
        do throws(StorageError) { file = try sandbox.open() } catch {
            if error == .missing {
                throw Failure(.editor, "the editor removed the text; nothing was changed", hint: "run the command again")
            }
            throw Failure(error)
        }
        defer { close(file) }
        var buffer = SecretBuffer(capacity: 4096)
        switch readAll(file, into: &buffer, maximum: maximum) {
        case .end: return buffer.finish()
        case .tooLong:
            throw Failure(.usage, "the text is longer than \(maximum) bytes; nothing was changed", hint: "make it shorter")
        case .error(let code): throw Failure(.io, "the edited text cannot be read", errno: code)
        }
    }

    /// `$VISUAL`, else `$EDITOR`, else the first of Debian's editors that is there.
    private static func command(_ terminal: Terminal, instead other: String) throws(Failure) -> String {
        if let chosen = Environment.text("VISUAL") ?? Environment.text("EDITOR") { return chosen }
        guard terminal.isThere else {
            throw Failure(
                .inputRequired, "an editor is needed, and there is no terminal for it", hint: other,
                "VISUAL or EDITOR can name a program that needs no terminal")
        }
        let folders = (Environment.text("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        for name in ["editor", "nano", "vi"] where folders.contains(where: { access("\($0)/\(name)", X_OK) == 0 }) {
            return name
        }
        throw Failure(
            .editor, "no editor was found: neither VISUAL nor EDITOR is set, and there is no editor, nano or vi",
            hint: "set EDITOR to your editor, such as EDITOR=nano", other)
    }
}

extension Failure {
    fileprivate init(_ problem: SandboxProblem, instead other: String) {
        let part =
            switch problem.step {
            case .process: "no process in a namespace of its own"
            case .user: "no user namespace"
            case .mount: "no file system in memory"
            case .readOnly: "the disks cannot be made read-only for the editor"
            case .rights: "the editor's rights cannot be given up"
            }
        self.init(
            .unsupported,
            "this system has no safe place for the text that you edit: \(part) (\(systemMessage(problem.code)))",
            hints: [
                other,
                "the editor needs user namespaces: sysctl kernel.unprivileged_userns_clone user.max_user_namespaces",
            ])
    }
}
