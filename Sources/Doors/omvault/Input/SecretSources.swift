// The sources of all secrets of a command, checked together before the first is read.

internal import COMSystem
internal import Glibc
internal import OMSecrets

/// The sources behind a command's `-from` options.
///
///     let secrets = try SecretSources(context, ["--password-from": passwordFrom, "--new-password-from": newPasswordFrom])
///     let old = try secrets.read("--password-from", prompt: "Current password")
///     let new = try secrets.read("--new-password-from", prompt: "New password", isNew: true)
///
/// Without an option the terminal is the source. For `--password-from`, `OMVAULT_PASSWORD_FROM` comes before the terminal.
struct SecretSources: ~Copyable {
    private let terminal: Terminal
    private let sources: [String: SecretSource]
    /// The secrets from the environment. They are taken out at once, before a child process inherits them.
    private let fromEnvironment: [String: SecretReference]

    /// - Parameter dataOption: The option whose data comes from standard input, if there is one.
    /// - Throws: ``ExitStatus/usage`` for text outside the grammar, or if two options have the same stream.
    init(
        _ context: CommandContext, _ given: KeyValuePairs<String, SecretSourceArgument?>,
        standardInputIsDataOf dataOption: String? = nil
    ) throws(Failure) {
        try self.init(context, Array(given), standardInputIsDataOf: dataOption)
    }

    init(
        _ context: CommandContext, _ given: [(key: String, value: SecretSourceArgument?)],
        standardInputIsDataOf dataOption: String? = nil
    ) throws(Failure) {
        terminal = context.terminal
        var sources: [String: SecretSource] = [:]
        var streams: [Int32: String] = [:]
        if let dataOption { streams[STDIN_FILENO] = dataOption }
        for (option, argument) in given {
            let source = try Self.source(of: argument, for: option)
            if case .descriptor(let number) = source {
                if let other = streams.updateValue(option, forKey: number) {
                    throw Self.sharedStream(number, other, option)
                }
            }
            sources[option] = source
        }
        self.sources = sources
        fromEnvironment = Self.takeFromEnvironment(sources.values, context.output)
    }

    /// Whether the secret of this option is a line that is typed at the terminal. Then omvault can ask for it again.
    borrowing func isAsked(_ option: String) -> Bool {
        if case .tty? = sources[option] { true } else { false }
    }

    /// Reads the secret of one of the declared options.
    ///
    /// - Parameters:
    ///   - prompt: The prompt at a terminal, without the colon.
    ///   - name: What an error calls the secret, if the prompt is not a noun.
    ///   - isNew: Whether to ask twice at a terminal. A new secret cannot be compared with a stored one.
    ///   - isShown: Whether a terminal shows what the user types.
    ///   - keepNewline: Whether to keep the one trailing newline that is stripped otherwise.
    borrowing func read(
        _ option: String, prompt: String, name: String? = nil, isNew: Bool = false, isShown: Bool = false,
        keepNewline: Bool = false, maximum: Int = Password.maximumCount
    ) throws(Failure) -> SecretBytes {
        guard let source = sources[option] else { preconditionFailure("\(option) was not declared") }
        let reader = SecretReader(option: option, maximum: maximum, keepsNewline: keepNewline)
        let name = name ?? Self.noun(prompt, of: option)
        switch source {
        case .tty: return try terminal.readSecret(prompt, name: name, for: option, isNew: isNew, isShown: isShown)
        // The user sees the lines, so they are asked for once.
        case .lines: return try reader.trimmed(try terminal.readLines(prompt, name: name, for: option, maximum: maximum))
        case .descriptor(let number): return try reader.read(descriptor: number)
        case .file(let path): return try reader.read(file: path)
        case .command(let words): return try reader.read(command: words)
        case .credential(let name): return try reader.read(credential: name)
        case .environment(let name):
            guard let held = fromEnvironment[name] else {
                throw Failure(usage: "\(option): the environment variable \(name) is not set")
            }
            return try reader.trimmed(SecretBuffer(copying: held.secret))
        }
    }
}

extension SecretSources {
    /// The same for a password, which has 1 byte to 1 MiB.
    borrowing func readPassword(_ option: String, prompt: String, isNew: Bool = false) throws(Failure) -> Password {
        let secret = try read(option, prompt: prompt, isNew: isNew)
        do throws(SecretsError) { return try Password(secret) } catch { throw Failure(error) }
    }

    /// The same for the password of a login. If it is missing or empty, the error has the SDK's number for that.
    borrowing func readLoginPassword(_ option: String, prompt: String, isNew: Bool = false) throws(Failure) -> Password {
        let secret = try Failure.requiring(10039) { () throws(Failure) in
            try read(option, prompt: prompt, isNew: isNew)
        }
        do throws(SecretsError) { return try Password(secret) } catch { throw Failure(error).with(sdkCode: 10039) }
    }

    /// `Password for vault "work"` as a noun in a sentence. The prompt of a field or a property begins with its name.
    private static func noun(_ prompt: String, of option: String) -> String {
        let isName = option.hasPrefix("--field ") || option.hasPrefix("--property ")
        let first = prompt.prefix { $0 != " " }
        let isWord = !isName && first.dropFirst().allSatisfy { $0.isLowercase }
        return "the " + (isWord ? prompt.prefix(1).lowercased() + prompt.dropFirst() : prompt)
    }

    private static func source(of argument: SecretSourceArgument?, for option: String) throws(Failure) -> SecretSource {
        if let argument {
            guard let source = argument.source else {
                throw Failure(.usage, "\(option) does not name a source", hint: "sources: \(SecretSource.grammar)")
            }
            return source
        }
        guard ["--password-from", "--vault-password-from"].contains(option),
            let text = Environment.text("OMVAULT_PASSWORD_FROM")
        else { return .tty }
        guard let source = SecretSource(text) else {
            throw Failure(
                .config, "OMVAULT_PASSWORD_FROM does not name a source",
                hint: "it holds a source, never the password itself: \(SecretSource.grammar)")
        }
        return source
    }

    private static func sharedStream(_ number: Int32, _ one: String, _ other: String) -> Failure {
        let stream = number == STDIN_FILENO ? "standard input" : "descriptor \(number)"
        return Failure(
            .usage, "\(one) and \(other) both read \(stream)", hint: "give one of them another source, such as fd:3")
    }

    private static func takeFromEnvironment(
        _ sources: some Collection<SecretSource>, _ output: Output
    ) -> [String: SecretReference] {
        var held: [String: SecretReference] = [:]
        for case .environment(let name) in sources where held[name] == nil {
            guard let secret = Environment.takeSecret(name) else { continue }
            held[name] = SecretReference(secret)
            if StandardError.isTerminal {
                output.notice("your other processes could read the variable \(name); fd:N and file:PATH are safer")
            }
        }
        return held
    }
}

/// A secret in a dictionary. A dictionary holds only copyable values, and this reference is one.
final class SecretReference: Sendable {
    let secret: SecretBytes
    init(_ secret: consuming SecretBytes) { self.secret = secret }
}

/// Reads one secret to its end, up to its maximum.
private struct SecretReader {
    let option: String
    let maximum: Int
    let keepsNewline: Bool

    func read(descriptor: Int32) throws(Failure) -> SecretBytes {
        let name = descriptor == STDIN_FILENO ? "standard input" : "descriptor \(descriptor)"
        guard isatty(descriptor) == 0 else {
            throw Failure(
                .usage, "\(option): \(name) is a terminal, which would show the secret as you type it", hints: terminalHints)
        }
        if descriptor == STDIN_FILENO { try StandardInput.claim() }
        var buffer = SecretBuffer(capacity: 4096)
        let end = readAll(descriptor, into: &buffer, maximum: maximum + 2)
        if end == .error(EBADF) { throw Failure(usage: "\(option): \(name) is not open for reading") }
        return try whole(buffer, end, of: name)
    }

    /// Symbolic links are followed, since systemd and Kubernetes provide credentials in that way.
    func read(file path: String) throws(Failure) -> SecretBytes {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            let failure = cannotRead(path, errno)
            guard path.hasPrefix("~/") else { throw failure }
            // A shell expands it at the start of a word only.
            throw failure.with(hints: ["~ stands for your home only at the start of a word: file:\"$HOME\"\(path.dropFirst())"])
        }
        defer { close(descriptor) }
        guard isatty(descriptor) == 0 else {
            throw Failure(
                .usage, "\(option): \(path) is a terminal, which would show the secret as you type it", hints: terminalHints)
        }
        var buffer = SecretBuffer(capacity: 4096)
        return try whole(buffer, readAll(descriptor, into: &buffer, maximum: maximum + 2), of: path)
    }

    func read(credential name: String) throws(Failure) -> SecretBytes {
        guard let folder = Environment.text("CREDENTIALS_DIRECTORY") else {
            throw Failure(
                .usage, "\(option): CREDENTIALS_DIRECTORY is not set",
                hint: "cred:NAME works in a systemd unit with LoadCredential=NAME:…")
        }
        return try read(file: "\(folder)/\(name)")
    }

    func read(command words: [String]) throws(Failure) -> SecretBytes {
        let program = words[0]
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw cannotRead(program, errno) }
        defer { close(ends[0]) }
        let child = words.withCArguments { om_spawn($0, ends[1], STDERR_FILENO) }
        let startError = errno
        close(ends[1])
        guard child > 0 else { throw Failure(.io, "\(option): cannot start \(program)", errno: startError) }
        var buffer = SecretBuffer(capacity: 4096)
        let end = readAll(ends[0], into: &buffer, maximum: maximum + 2)
        // If the secret is too long, closing the pipe stops a program that is still writing.
        if end != .end {
            close(ends[0])
            ends[0] = -1
        }
        let code = om_wait(child)
        guard end != .end || code == 0 else {
            throw Failure(
                .general, "\(option): \(program) failed with exit code \(code)", hint: "run the program by itself to see why")
        }
        return try whole(buffer, end, of: program)
    }

    /// The secret without its one trailing newline.
    func trimmed(_ buffer: consuming SecretBuffer) throws(Failure) -> SecretBytes {
        if !keepsNewline, buffer.last == UInt8(ascii: "\n") { buffer.removeLast() }
        guard buffer.count <= maximum else { throw tooLong }
        return buffer.finish()
    }

    private func whole(
        _ buffer: consuming SecretBuffer, _ end: ReadResult, of name: String
    ) throws(Failure) -> SecretBytes {
        switch end {
        case .end: return try trimmed(buffer)
        case .tooLong: throw tooLong
        case .error(let code): throw cannotRead(name, code)
        }
    }

    private var terminalHints: [String] {
        [
            "\(SecretSource.spelled("tty", for: option)) asks for one line without showing it",
            "\(SecretSource.spelled("lines", for: option)) asks for several lines, and shows them as you type",
        ]
    }

    private var tooLong: Failure { Failure(usage: "\(option): the secret is longer than \(maximum) bytes") }

    private func cannotRead(_ name: String, _ code: Int32) -> Failure {
        Failure(.io, "\(option): cannot read \(name)", errno: code)
    }
}

extension SecretBuffer {
    fileprivate init(copying secret: borrowing SecretBytes) {
        self.init(capacity: secret.count)
        append(secret)
    }

    fileprivate var last: UInt8? { withBytes { $0.isEmpty ? nil : $0[$0.count - 1] } }
}

extension [String] {
    /// The words as C's `argv`, valid during the call.
    func withCArguments<R>(_ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
        var words = map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        return words.withUnsafeMutableBufferPointer { words in
            guard let base = words.baseAddress else { preconditionFailure("argv ends with a null") }
            return body(base)
        }
    }
}
