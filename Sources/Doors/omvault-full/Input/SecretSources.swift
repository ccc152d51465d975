// The sources of all secrets of a command, checked together before the first is read.

internal import COMSystem
internal import Glibc
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// The sources behind a command's `-from` options.
///
///     let secrets = try SecretSources(context, ["--password-from": passwordFrom, "--new-password-from": newPasswordFrom])
///     let old = try secrets.read("--password-from", prompt: "Current password")
///     let new = try secrets.read("--new-password-from", prompt: "New password", isNew: true)
///
/// Without an option the terminal is the source. For `--password-from`, `OMVAULT_PASSWORD_FROM` comes before the terminal.
struct SecretSources: ~Copyable {
    private let terminal: Terminal
    private let output: Output
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
        (terminal, output) = (context.terminal, context.output)
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

    /// Whether every secret is in this process or in a regular file, so that reading it waits for no person and no program.
    var areAtHand: Bool { sources.values.allSatisfy(\.isAtHand) }

    /// Reads the secret of one of the declared options.
    ///
    /// - Parameters:
    ///   - prompt: The prompt at a terminal, without the colon.
    ///   - name: What an error calls the secret, if the prompt is not a noun.
    ///   - isNew: Whether to ask twice at a terminal. A new secret cannot be compared with a stored one.
    ///   - isShown: Whether a terminal shows what the user types.
    ///   - canBeEmpty: Whether a new secret may be empty. At a terminal it is asked for again anyway.
    ///   - keepNewline: Whether to keep the one trailing newline that is stripped otherwise.
    borrowing func read(
        _ option: String, prompt: String, name: String? = nil, isNew: Bool = false, isShown: Bool = false,
        canBeEmpty: Bool = false, keepNewline: Bool = false, maximum: Int = Password.maximumCount
    ) throws(Failure) -> SecretBytes {
        let reader = SecretReader(option: option, maximum: maximum, keepsNewline: keepNewline)
        return try read(
            reader, prompt: prompt, name: name, isNew: isNew, isShown: isShown, canBeEmpty: canBeEmpty
        ).secret()
    }

    /// Reads the value of a field, of up to 64 MiB. A value above 1 MiB is spooled beside the vault.
    ///
    /// - Parameter isShown: Whether the field is shown. Then a terminal shows what the user types, and it is asked for once.
    borrowing func readValue(
        _ option: String, prompt: String, isShown: Bool, keepNewline: Bool, besideVault path: String
    ) throws(Failure) -> SourceValue {
        let reader = SecretReader(
            option: option, maximum: Item.maximumWholeCount, keepsNewline: keepNewline,
            spool: .init(vault: path, isQuiet: output.isQuiet))
        return try read(reader, prompt: prompt, name: nil, isNew: true, isShown: isShown, canBeEmpty: true)
    }

    private borrowing func read(
        _ reader: SecretReader, prompt: String, name: String?, isNew: Bool, isShown: Bool, canBeEmpty: Bool
    ) throws(Failure) -> SourceValue {
        let option = reader.option
        guard let source = sources[option] else { preconditionFailure("\(option) was not declared") }
        let name = name ?? Self.noun(prompt, of: option)
        switch source {
        case .tty:
            return .secret(
                try terminal.readSecret(
                    prompt, name: name, for: option, isNew: isNew, isShown: isShown, canBeEmpty: canBeEmpty))
        // The user sees the lines, so they are asked for once.
        case .lines:
            let lines = try terminal.readLines(prompt, name: name, for: option, maximum: reader.maximum)
            return .secret(try reader.trimmed(lines))
        case .descriptor(let number): return try reader.read(descriptor: number)
        case .file(let path): return try reader.read(file: path)
        case .command(let words): return try reader.read(command: words)
        case .credential(let name): return try reader.read(credential: name)
        case .pinentry(let program):
            let question = PinentryQuestion(program: program ?? PinentryProgram.standard, prompt: prompt, option: option)
            let secret = try terminal.asking(for: name, option) { () throws(Failure) in
                try question.secret(isNew: isNew && !isShown)
            }
            guard secret.count <= reader.maximum else { throw reader.tooLong }
            return .secret(secret)
        case .environment(let name):
            guard let held = fromEnvironment[name] else {
                throw Failure(usage: "\(option): the environment variable \(name) is not set")
            }
            return .secret(try reader.trimmed(SecretBuffer(copying: held.secret)))
        }
    }
}

extension SecretSources {
    /// The same for a password, which has 1 byte to 1 MiB.
    borrowing func readPassword(_ option: String, prompt: String, isNew: Bool = false) throws(Failure) -> Password {
        let secret = try read(option, prompt: prompt, isNew: isNew)
        do throws(SecretsError) { return try Password(secret) } catch { throw Failure(error) }
    }

    /// The same for a password that the user chooses for a file that can be stolen. A notice says if it is easy to guess.
    borrowing func readNewPassword(_ option: String, prompt: String) throws(Failure) -> Password {
        let password = try readPassword(option, prompt: prompt, isNew: true)
        output.warn(ofNew: password)
        return password
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
