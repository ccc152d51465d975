internal import ArgumentParser
internal import COMSystem
internal import FoundationEssentials
internal import Glibc
internal import OMSecrets
internal import OMShell
internal import OMSystem
internal import OMVectors

/// `omvault tour`: the main tasks in a temporary home, each with the command that a user would type.
struct TourCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "tour",
        abstract: "Show the main job in a temporary home, step by step.",
        discussion: """
            Makes a vault, stores a secret and reads it back. Enrolls a login, counts wrong passwords and lets the right one in.
            Shows the wipe, and checks the test vectors. Every step runs the real command and checks its answer. Leaves nothing
            behind.

              omvault tour
            """)

    @OptionGroup var global: GlobalOptions

    func run(_ context: CommandContext) throws {
        guard context.output.format != .json else {
            throw Failure(.usage, "the tour has no JSON output", hint: "omvault tour")
        }
        let vectors = VectorRunner.repositoryFolder().flatMap(Self.absolute)
        // Ctrl-C ends the running step. The tour then fails, and still removes the home.
        try DeferredSignals.run {
            let home = try TourHome()
            defer { home.remove() }
            try walk(home, vectors)
            home.remove()
            try say("\nEvery step did what it should. The temporary home is gone.")
        }
    }

    private func walk(_ home: TourHome, _ vectors: String?) throws(Failure) {
        try say("A temporary home, with demo passwords in files. Without --password-from omvault asks for them.")
        for (file, text) in TourHome.files { try say("$ printf '%s' '\(text)' > \(file)") }

        try home.step("Make a vault. Its recovery code is shown this once.", "init --password-from file:vault-password")
        try home.step(
            "Store a secret.", "add github --field token=file:token --password-from file:vault-password")
        try home.step(
            "Read it back: the exact bytes.", "get github:token --password-from file:vault-password",
            says: TourHome.token)
        try home.step(
            "A wrong vault password opens nothing.", "get github:token --password-from file:wrong", .badSecret)
        try home.step(
            "Set the rules for logins without a server.",
            "profile set work OfflineAuthAllowed=true MaxLoginAttempts=2 OnAttemptsExceeded=wipe")
        try home.step("Enrol a login on this device.", "login enroll ada --profile work --password-from file:right")
        let check = "login check ada --profile work --mode offline --password-from file:"
        try home.step(
            "A wrong password is counted before it is checked.", check + "wrong", .badSecret, says: "attempts_left=1")
        try home.step(
            "The right password is accepted, and the count goes back to zero.", check + "right", says: "granted offline")
        try home.step("Two wrong passwords are tolerated. The first one.", check + "wrong", .badSecret, says: "attempts_left=1")
        try home.step("The second one.", check + "wrong", .badSecret, says: "attempts_left=0")
        try home.step("The third one exceeds the limit: the cached credential is wiped.", check + "wrong", .wiped)
        try home.step("Now even the right password does not work.", check + "right", .wiped)
        try home.step("Show the state of the login.", "login status --format table")
        guard let vectors else {
            return try say("\nThe test vectors are in the repository: omvault vectors verify PATH checks them.")
        }
        try home.step(
            "Check the cryptography against published vectors, on this machine.", "vectors verify",
            says: " passed, 0 failed", lastLineOnly: true, path: vectors)
    }

    private static func absolute(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

private func say(_ text: String) throws(Failure) { try StandardOutput.write(text + "\n") }

/// A temporary home, in which the tour runs this program.
private struct TourHome {
    static let token = "ghp_an-example-that-opens-nothing"
    static let files = [
        ("vault-password", "correct horse battery staple"), ("token", token), ("right", "open sesame"),
        ("wrong", "open barley"),
    ]

    private let path: String
    private let program: String

    init() throws(Failure) {
        let (path, program) = try Self.make()
        (self.path, self.program) = (path, program)
        do throws(Failure) { try fill() } catch {
            remove()
            throw error
        }
    }

    private static func make() throws(Failure) -> (path: String, program: String) {
        var program = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard readlink("/proc/self/exe", &program, program.count - 1) > 0 else {
            throw Failure(.io, "cannot find omvault's own file", errno: errno)
        }
        let parent = Environment.text("TMPDIR").flatMap { FilePath.isAbsolute($0) ? $0 : nil } ?? "/tmp"
        var template = Array("\(parent)/omvault-tour-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(.io, "cannot make a folder in \(parent.shown)", errno: errno)
        }
        return (
            template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) },
            program.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        )
    }

    private func fill() throws(Failure) {
        for (file, text) in Self.files {
            guard FileManager.default.createFile(atPath: "\(path)/\(file)", contents: Data(text.utf8)) else {
                throw Failure(.io, "cannot write in \(path.shown)", errno: errno)
            }
        }
        // The child processes use only this home.
        setenv("HOME", path, 1)
        for name in ["DATA", "STATE", "CONFIG"] { unsetenv("XDG_\(name)_HOME") }
        // This folder is missing, so no agent is asked, and none starts.
        setenv("XDG_RUNTIME_DIR", "\(path)/no-agent", 1)
        for name in ["VAULT", "FORMAT", "NO_INPUT", "PASSWORD_FROM", "AGENT_SOCK"] { unsetenv("OMVAULT_\(name)") }
        guard chdir(path) == 0 else { throw Failure(.io, "cannot enter \(path.shown)", errno: errno) }
    }

    func remove() {
        chdir("/")
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Runs one command and shows its output.
    ///
    /// - Throws: ``ExitStatus/general`` if it does not end with `status`, or its output lacks `words`.
    func step(
        _ title: String, _ command: String, _ status: ExitStatus = .ok, says words: String? = nil,
        lastLineOnly: Bool = false, path: String? = nil
    ) throws(Failure) {
        let arguments = command.split(separator: " ").map(String.init) + (path.map { [$0] } ?? [])
        try say("\n\(title)\n$ omvault \(command)" + (path.map { " '\($0)'" } ?? ""))
        let (code, text) = try run(arguments)
        let lines = text.split(separator: "\n")
        for line in lastLineOnly ? lines.suffix(1) : lines[...] { try say("  \(String(line).shown)") }
        if code != ExitStatus.ok.rawValue {
            try say("  (exit code \(code): \(ExitStatus(rawValue: code)?.name ?? "?"))")
        }
        guard code == status.rawValue, words.map(text.contains) ?? true else {
            throw Failure(
                .general, "this step should have ended with exit code \(status.rawValue)",
                hint: "please report the output above")
        }
    }

    private func run(_ arguments: [String]) throws(Failure) -> (Int32, String) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(.io, "cannot make a pipe", errno: errno) }
        defer { close(ends[0]) }
        let child = ([program] + arguments).withCArguments { om_spawn($0, ends[1], ends[1]) }
        close(ends[1])
        guard child > 0 else { throw Failure(.io, "cannot run \(program.shown)", errno: errno) }
        var said = SecretBuffer(capacity: 4096)
        let end = readAll(ends[0], into: &said, maximum: 1 << 20)
        let code = om_wait(child)
        guard end == .end else { throw Failure(.io, "cannot read the output of omvault", hint: "run the tour again") }
        // The tour's secrets are examples, and the tour shows them on purpose.
        return (code, said.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) })
    }
}
