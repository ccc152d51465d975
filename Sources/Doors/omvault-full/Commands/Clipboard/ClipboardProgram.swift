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
    /// Whether ``copy`` makes a /tmp of its own first.
    private var isApart = false

    /// How long a program may take, in seconds. One that hangs, and its children, are killed.
    private static let time = 30
    private static let limit = ["timeout", "--signal=KILL", "\(time)"]
    /// The exit code of a wl-copy that got its /tmp, and failed.
    private static let failedApart: Int32 = 72

    /// The program for the clipboard of the environment. Nil if it names none, or if its program is not installed.
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
        let apart = #"mount -t tmpfs -o mode=700 tmpfs /tmp && { "$@" || exit \#(failedApart); }"#
        return ClipboardProgram(
            // The type, so that wl-copy starts no program to guess it.
            copy: [
                "unshare", "--map-root-user", "--mount", "--", "sh", "-c", apart, "sh", "wl-copy", "--type",
                "text/plain;charset=utf-8",
            ],
            paste: ["wl-paste", "--no-newline"], clear: ["wl-copy", "--clear"], place: "wayland \(display)",
            hint: """
                wl-copy gets a /tmp of its own, since it writes the text into a file there, so the compositor's socket must be \
                elsewhere; OMVAULT_CLIP_COPY_CMD=wl-copy OMVAULT_CLIP_PASTE_CMD='wl-paste --no-newline' leaves the file in /tmp
                """, isApart: true)
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
        let problem =
            switch code {
            case 137: "\(copy[0]) did not end in \(Self.time) seconds"
            case Self.failedApart where isApart: "wl-copy failed"
            case _ where isApart: "wl-copy got no /tmp of its own: unshare or mount failed with exit code \(code)"
            case 127: "\(copy[0]) did not start"
            default: "\(copy[0]) failed with exit code \(code)"
            }
        throw Failure(.clipboard, "nothing was copied: \(problem)", hint: hint)
    }

    /// Empties the clipboard.
    func empty() { _ = Self.run(clear, writing: SecretBytes(copying: [UInt8]())) }

    /// The text in the clipboard. Nil if it has none, or more than any command copies.
    func text() -> SecretBytes? {
        guard let paste, let pipe = try? ProgramPipe() else { return nil }
        let child = (Self.limit + paste).withCArguments { om_spawn_piped($0, -1, pipe.writing) }
        pipe.closeWriting()
        guard child > 0 else { return nil }
        var text = SecretBuffer(capacity: 4096)
        // A program of the user may add a newline, of Windows perhaps.
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
    ///
    /// Only its exit code counts: it may end before it has read everything.
    private static func run(_ command: [String], writing secret: borrowing SecretBytes) -> Int32 {
        guard let pipe = try? ProgramPipe() else { return 127 }
        let child = (limit + command).withCArguments { om_spawn_piped($0, pipe.reading, -1) }
        pipe.closeReading()
        guard child > 0 else { return 127 }
        _ = secret.withBytes { writeAll($0, to: pipe.writing) }
        pipe.closeWriting()
        return om_wait(child)
    }
}
