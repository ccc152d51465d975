// The source of a secret. Every option that ends in `-from` has this grammar.

internal import Glibc
internal import OMSecrets

enum SecretSource: Hashable, Sendable {
    /// One line, typed at the terminal.
    case tty
    /// Several lines, typed at the terminal.
    case lines
    case descriptor(Int32)
    case file(String)
    case environment(String)
    case command([String])
    case credential(String)
    /// A program that asks the person. Nil for the usual one.
    case pinentry(String?)

    /// The sources other than the terminal and standard input, for an error's hint.
    static let others = "fd:N, file:PATH, env:NAME, cmd:PROGRAM or cred:NAME"

    static let grammar = "tty, lines, stdin, fd:N, file:PATH, env:NAME, cmd:PROGRAM, cred:NAME or pinentry"

    static let stdin = SecretSource.descriptor(STDIN_FILENO)

    /// An option with a source as the user types it: `--value-from stdin`, `--field token=stdin`.
    static func spelled(_ source: String, for option: String) -> String {
        if option.hasPrefix("--field ") || option.hasPrefix("--property ") { return "\(option)=\(source)" }
        // If two options of a command have the same name, more words tell them apart.
        return "\(option.prefix { $0 != " " }) \(source)"
    }

    /// Whether reading it waits for no person and no program.
    var isAtHand: Bool {
        switch self {
        case .tty, .lines, .descriptor, .command, .pinentry: return false
        case .environment, .credential: return true
        case .file(let path):
            var status = stat()
            return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// Nil for any text outside the grammar. There is no `pass:`, since every process can read the arguments of omvault.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count == 2 ? parts[1] : nil) {
        case ("tty", nil): self = .tty
        case ("lines", nil): self = .lines
        case ("stdin", nil): self = .stdin
        case ("fd", let number?):
            guard let descriptor = Self.descriptor(number) else { return nil }
            self = .descriptor(descriptor)
        case ("file", let path?) where !path.isEmpty:
            self = Self.descriptor(named: path).map { .descriptor($0) } ?? .file(path)
        case ("env", let name?) where !name.isEmpty && !name.contains("="): self = .environment(name)
        case ("cmd", let line?):
            guard let words = CommandWords.split(line), !words.isEmpty else { return nil }
            self = .command(words)
        case ("cred", let name?) where !name.isEmpty && !name.utf8.contains(UInt8(ascii: "/")) && !name.hasPrefix("."):
            self = .credential(name)
        case ("pinentry", nil): self = .pinentry(nil)
        case ("pinentry", let program?) where !program.isEmpty: self = .pinentry(program)
        default: return nil
        }
    }

    /// A shell's `<(…)` is /dev/fd/63, which leads through /proc/self. No process may look into this one, not even
    /// itself, so that path does not work. The descriptor behind it is read directly.
    private static func descriptor(named path: String) -> Int32? {
        if path == "/dev/stdin" { return STDIN_FILENO }
        let folder = ["/dev/fd/", "/proc/self/fd/"].first(where: path.hasPrefix)
        return folder.flatMap { descriptor(String(path.dropFirst($0.count))) }
    }

    private static func descriptor(_ digits: String) -> Int32? {
        digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int32(digits) : nil
    }
}

/// Splits `PROGRAM 'an argument' "another"` into words. Quotes and backslashes work as in a shell, and nothing else does.
enum CommandWords {
    /// Nil if a quote or a backslash is left open.
    static func split(_ line: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = line[...]
        while let character = rest.popFirst() {
            switch (character, quote) {
            case (let end, let open?) where end == open: quote = nil
            case ("\\", nil), ("\\", "\""):
                guard let escaped = rest.popFirst() else { return nil }
                // Inside double quotes a backslash means itself, except before a quote or another backslash.
                let isLiteral = quote == "\"" && escaped != "\"" && escaped != "\\"
                word = (word ?? "") + (isLiteral ? "\\" : "") + String(escaped)
            case ("'", nil), ("\"", nil):
                quote = character
                word = word ?? ""
            case (" ", nil), ("\t", nil), ("\n", nil):
                if let whole = word { words.append(whole) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        guard quote == nil else { return nil }
        if let whole = word { words.append(whole) }
        return words
    }
}
