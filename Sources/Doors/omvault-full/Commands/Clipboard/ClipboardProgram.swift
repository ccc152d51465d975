// The programs that put text into the clipboard and take it out. The text goes through pipes, never through arguments.

internal import COMSystem
internal import Glibc
internal import OMSecrets
internal import OMShell

/// A clipboard behind a program of the system.
struct ClipboardProgram {
    /// Takes the text from standard input.
    private let copy: [String]
    /// Writes the text to standard output. Nil if no such program is known. Then the clipboard is never cleared: it could
    /// hold another text.
    let paste: [String]?
    /// Empties the clipboard. Standard input is empty.
    private let clear: [String]
    /// What tells this clipboard from others, such as that of another display.
    let place: String
    /// How to go on if the copy fails.
    private let hint: String

    /// The one that the environment names. Nil if it names none, or if its program is not installed.
    ///
    /// - Throws: ``ExitStatus/config`` for a command that cannot be split into words.
    static func found() throws(Failure) -> ClipboardProgram? {
        if let own = try chosen() { return own }
        if let display = Environment.text("WAYLAND_DISPLAY"), isInstalled("wl-copy"), isInstalled("wl-paste") {
            return wayland(display)
        }
        if let display = Environment.text("DISPLAY"), isInstalled("xclip") { return x11(display) }
        return nil
    }

    /// Why ``found()`` is nil.
    static var missing: String {
        let displays = [("WAYLAND_DISPLAY", "wl-copy"), ("DISPLAY", "xclip")].filter { Environment.text($0.0) != nil }
        return displays.isEmpty
            ? "neither WAYLAND_DISPLAY nor DISPLAY is set, and no terminal can take it"
            : "\(displays.map(\.1).joined(separator: " or ")) is not installed, and no terminal can take it"
    }

    /// What the user can do then.
    static let ways = [
        "install wl-clipboard for Wayland, or xclip for X11; or name a program that copies its input in OMVAULT_CLIP_COPY_CMD"
    ]

    private static func chosen() throws(Failure) -> ClipboardProgram? {
        guard let copy = try words("OMVAULT_CLIP_COPY_CMD") else { return nil }
        return ClipboardProgram(
            copy: copy, paste: try words("OMVAULT_CLIP_PASTE_CMD"), clear: copy, place: "command \(copy)",
            hint: "OMVAULT_CLIP_COPY_CMD names it; it must take the text from standard input, and end")
    }

    private static func words(_ variable: String) throws(Failure) -> [String]? {
        guard let line = Environment.text(variable) else { return nil }
        guard let words = CommandWords.split(line), !words.isEmpty else {
            throw Failure(
                .config, "\(variable) has an open quote, or no word", hint: "write it as: \(variable)='PROGRAM ARGUMENT'")
        }
        return words
    }

    /// Attack, or accident: wl-copy writes the text into a file in /tmp, which may be a disk, and leaves it there if it is
    /// killed. So it gets a /tmp of its own, in memory, in a namespace that ends with it.
    private static func wayland(_ display: String) -> ClipboardProgram {
        let alone = #"mount -t tmpfs -o mode=700 tmpfs /tmp && exec "$@""#
        return ClipboardProgram(
            // The type, so that wl-copy starts no program to guess it.
            copy: [
                "unshare", "--map-root-user", "--mount", "--", "sh", "-c", alone, "sh", "wl-copy", "--type",
                "text/plain;charset=utf-8",
            ],
            paste: ["wl-paste", "--no-newline"], clear: ["wl-copy", "--clear"], place: "wayland \(display)",
            hint: """
                wl-copy runs with a /tmp of its own, since it writes the text into a file there; OMVAULT_CLIP_COPY_CMD=wl-copy \
                does without
                """)
    }

    private static func x11(_ display: String) -> ClipboardProgram {
        let xclip = ["xclip", "-selection", "clipboard"]
        return ClipboardProgram(
            copy: xclip + ["-in"], paste: xclip + ["-out"], clear: xclip + ["-in"], place: "x11 \(display)",
            hint: "does the X server run that DISPLAY names?")
    }

    private static func isInstalled(_ program: String) -> Bool {
        (Environment.text("PATH") ?? "/usr/bin:/bin").split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    /// - Throws: ``ExitStatus/clipboard`` if the program does not end with 0.
    func copy(_ secret: borrowing SecretBytes) throws(Failure) {
        let code = Self.run(copy, writing: secret)
        guard code != 0 else { return }
        let name = copy.first { $0.hasPrefix("wl-") } ?? copy[0]
        throw Failure(
            .clipboard, "nothing was copied: \(name) \(code == 127 ? "did not start" : "failed with exit code \(code)")",
            hint: hint)
    }

    /// Empties the clipboard.
    func empty() { _ = Self.run(clear, writing: SecretBytes(copying: [UInt8]())) }

    /// The text in the clipboard. Nil if it has none, or more than any command copies.
    func text() -> SecretBytes? {
        guard let paste, let pipe = try? ProgramPipe() else { return nil }
        let child = paste.withCArguments { om_spawn_piped($0, -1, pipe.writing) }
        pipe.closeWriting()
        guard child > 0 else { return nil }
        var text = SecretBuffer(capacity: 4096)
        // A program of the user may add a newline.
        let end = readAll(pipe.reading, into: &text, maximum: Clipboard.longest + 2)
        // The program may still write. Then it ends, because the pipe is gone.
        pipe.closeReading()
        guard om_wait(child) == 0, end == .end else { return nil }
        return text.finish()
    }

    /// The program's exit code, and 127 if it did not start.
    ///
    /// The program serves the text on after this command has ended. So it gets a session of its own, and no descriptor of the
    /// caller: `omvault get x --clip | cat` would never end.
    private static func run(_ command: [String], writing secret: borrowing SecretBytes) -> Int32 {
        guard let pipe = try? ProgramPipe() else { return 127 }
        let child = command.withCArguments { om_spawn_piped($0, pipe.reading, -1) }
        pipe.closeReading()
        guard child > 0 else { return 127 }
        let failure = secret.withBytes { writeAll($0, to: pipe.writing) }
        pipe.closeWriting()
        let code = om_wait(child)
        return code == 0 && failure != nil ? 1 : code
    }
}
