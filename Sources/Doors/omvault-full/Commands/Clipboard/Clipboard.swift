// The clipboard, as a command uses it. Every program of the session can read it: clipboards have no owner.

internal import OMSecrets
internal import OMShell

/// A clipboard that is there, and when to clear it.
struct Clipboard {
    private let target: Target
    /// Zero for never.
    private let seconds: UInt32
    private let context: CommandContext
    /// The command that prints the secret instead.
    private let other: String

    private enum Target {
        case program(ClipboardProgram)
        case terminal(TerminalClipboard)
    }

    /// The longest text: 1 MiB.
    static let longest = 1 << 20

    /// - Throws: ``ExitStatus/clipboard`` if there is none, ``ExitStatus/config``.
    init(_ seconds: UInt32, _ context: CommandContext, instead other: String) throws(Failure) {
        (self.seconds, self.context, self.other) = (seconds, context, other)
        if let program = try ClipboardProgram.found() {
            target = .program(program)
        } else if let terminal = TerminalClipboard() {
            target = .terminal(terminal)
        } else {
            throw Failure(
                .clipboard, "there is no clipboard: \(ClipboardProgram.missing)", hints: ClipboardProgram.ways + [other])
        }
    }

    /// Copies the secret, and says so.
    ///
    /// - Parameters:
    ///   - name: What it is, in the notice.
    ///   - members: Those of the JSON document beside its own two.
    /// - Throws: ``ExitStatus/usage`` for what is no text, ``ExitStatus/clipboard`` if a program fails.
    func copy(
        _ secret: borrowing SecretBytes, as name: String, _ members: KeyValuePairs<String, JSONValue>
    ) throws(Failure) {
        // Attack: a stored secret has escape sequences, which a program obeys when it is pasted.
        guard secret.count > 0, secret.withBytes(Output.isPrintable) else {
            let problem = secret.count == 0 ? "the value is empty" : "the value is not printable text"
            throw Failure(.usage, "\(problem), so it was not copied", hint: "\(other) > FILE")
        }
        guard secret.count <= Self.longest else { throw tooLarge(secret.count) }
        let isCleared: Bool
        switch target {
        case .program(let program):
            let text = secret.duplicate()
            do throws(Failure) {
                isCleared = try ClipboardWait.whileNoOtherCopies { () throws(Failure) in try copy(text, with: program) }
            } catch { throw error.with(hints: error.hints + [other]) }
        case .terminal(let terminal):
            isCleared = false
            do throws(Failure) { try terminal.copy(secret) } catch { throw error.with(hints: error.hints + [other]) }
        }
        try say(name, members, isCleared: isCleared)
        // Attack: a stored secret has a newline and a command behind it.
        if secret.withBytes({ bytes in bytes.indices.contains { bytes[$0] == UInt8(ascii: "\n") } }) {
            context.output.notice("warning: it has more than one line; a shell runs each line that is pasted there")
        }
    }

    /// - Returns: Whether a process waits to clear it.
    private func copy(_ secret: borrowing SecretBytes, with program: ClipboardProgram) throws(Failure) -> Bool {
        let wait = seconds > 0 && program.paste != nil ? try ClipboardWait.start(for: secret, program, after: seconds) : nil
        do throws(Failure) { try program.copy(secret) } catch {
            wait?.stop()
            throw error
        }
        // Without the text in the clipboard, an earlier one may still be there, and has to go.
        let isCleared = wait?.begin() == true
        if isCleared || seconds == 0 { ClipboardWait.endOthers(than: wait, of: program) }
        return isCleared
    }

    /// - Parameter count: The number of bytes.
    func tooLarge(_ count: Int) -> Failure {
        Failure(.usage, "the value has \(count) bytes, and the clipboard gets at most 1 MiB", hint: "\(other) > FILE")
    }

    private func say(
        _ name: String, _ members: KeyValuePairs<String, JSONValue>, isCleared: Bool
    ) throws(Failure) {
        guard context.output.format == .json else {
            return context.output.notice("\(copied) \(name); \(end(isCleared: isCleared))")
        }
        var document = JSONDocument()
        document.field("result", .text("copied"))
        for (member, value) in members { document.field(member, value) }
        document.field("clears_in", isCleared ? .number(Int(seconds)) : .null)
        try context.output.document(document)
    }

    /// A terminal does not say whether it took the text.
    private var copied: String {
        switch target {
        case .program: "copied"
        case .terminal: "asked the terminal to copy"
        }
    }

    private func end(isCleared: Bool) -> String {
        if isCleared { return "the clipboard is cleared in \(DurationText.text(seconds))" }
        return switch target {
        case .program(let program) where program.paste == nil && seconds > 0:
            "omvault does not clear the clipboard, since OMVAULT_CLIP_PASTE_CMD is not set"
        case .program(let program) where seconds > 0:
            "omvault does not clear the clipboard, since \(program.paste?.first ?? "no program") did not print the text"
        case .program: "omvault does not clear the clipboard"
        case .terminal: "omvault cannot clear a terminal's clipboard"
        }
    }
}
