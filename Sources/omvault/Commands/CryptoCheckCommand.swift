internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets

/// `omvault crypto check`: is this the value behind that stored hash?
struct CryptoCheck: Verb {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a value against a stored hash, or many of them.",
        discussion: """
            Prints nothing, and exits with 0 when the value is the hash's, with 20 when it is not; in constant time.

              omvault crypto check --hash-from file:stored --value-from tty
              omvault crypto check --hash-from file:digest --encoding hex --alg sha256 --schemes all --value-from stdin
              omvault crypto check --batch pairs.txt

            The string names its scheme, and --schemes says which may be named: names as they stand in the strings
            (SaltedSHA-256, SSHA512, salted-sha256, argon2id, pbkdf2-sha256, bcrypt …) and the groups salted, unsalted,
            password and all. Without it: salted,password. Any other scheme is exit 13, and so is more work than
            --max-work allows.

            --batch reads lines, each a stored hash, a tab and a value; with --hash-from each line is a value. It prints
            match, mismatch or refused for each, and exits with 0 when all of them match, else 20.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var work: WorkOptions

    @Option(help: ArgumentHelp("Where the stored hash comes from.", valueName: "source"))
    var hashFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Where the value comes from.", valueName: "source"))
    var valueFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("The schemes that the stored hash may name.", valueName: "list"))
    var schemes: String?

    @Option(
        help: ArgumentHelp("The form it must have: hex, base64, sdk, sdk-android, ldap, phc.", valueName: "encoding"))
    var encoding: HashEncoding?

    @Option(help: ArgumentHelp("The algorithm of a hash in hex or base64, which names none.", valueName: "name"))
    var alg: String?

    @Option(help: ArgumentHelp("The salt of such a hash.", valueName: "source"))
    var saltFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("How the salt is spelled there: raw, hex or base64.", valueName: "encoding"))
    var saltEncoding = ByteEncoding.raw

    @Option(help: ArgumentHelp("Argon2's secret, where the hash was made with one.", valueName: "source"))
    var secretFrom: SecretSourceArgument?

    @Flag(help: "Read lines from FILE.")
    var batch = false

    @Argument(help: "With --batch: the lines; - is standard input.")
    var file: String?

    private var isBare: Bool { encoding == .hex || encoding == .base64 }

    func validate() throws {
        if batch ? valueFrom != nil : file != nil {
            throw ValidationError(
                batch ? "--batch takes its values from FILE, not from --value-from" : "a FILE is read with --batch only"
            )
        }
        if !batch, hashFrom == nil { throw ValidationError("--hash-from is missing") }
        if isBare != (alg != nil) {
            throw ValidationError("--alg names the algorithm of --encoding hex and base64, and of nothing else")
        }
        if isBare, hashFrom == nil { throw ValidationError("--encoding hex and base64 need --hash-from") }
        if saltFrom != nil, !isBare { throw ValidationError("--salt-from is for --encoding hex and base64") }
        if secretFrom != nil, isBare { throw ValidationError("--secret-from is for Argon2") }
    }

    func run(_ door: Door) throws {
        let schemes = try schemes.map { try HashSchemes(list: $0) } ?? .standard
        var given: [(key: String, value: SecretSourceArgument?)] = []
        if hashFrom != nil { given.append(("--hash-from", hashFrom)) }
        if saltFrom != nil { given.append(("--salt-from", saltFrom)) }
        if secretFrom != nil { given.append(("--secret-from", secretFrom)) }
        if !batch { given.append(("--value-from", valueFrom)) }
        let lines = file ?? "-"
        let sources = try SecretSources(door, given, standardInputIsDataOf: batch && lines == "-" ? "FILE" : nil)
        let stored = hashFrom == nil ? SecretBytes(copying: []) : try sources.read("--hash-from", prompt: "Stored hash")
        let secret =
            secretFrom == nil
            ? SecretBytes(copying: []) : try sources.read("--secret-from", prompt: "Argon2 secret", keepNewline: true)
        if isBare {
            let salt =
                saltFrom == nil
                ? SecretBytes(copying: [])
                : try sources.read("--salt-from", prompt: "Salt", keepNewline: saltEncoding == .raw)
            let bare = try bareHash(stored, saltEncoding.decode(salt, of: "--salt-from").publicBytes(), schemes)
            if batch {
                return try checkLines(lines, door) { try bare.matches(SecretBytes(copying: $0)) ? .match : .mismatch }
            }
            let value = try sources.read("--value-from", prompt: "Value")
            return try answer(bare.matches(value) ? .match : .mismatch, door)
        }
        var checker = HashChecker(schemes: schemes, encoding: encoding, limit: work.limit, secret: secret)
        if batch {
            guard hashFrom != nil else { return try checkPairs(lines, door, &checker) }
            return try checkLines(lines, door) { line in stored.withBytes { checker.check($0, line) } }
        }
        let value = try sources.read("--value-from", prompt: "Value")
        try answer(stored.withBytes { stored in value.withBytes { checker.check(stored, $0) } }, door)
    }

    /// A bare digest names no scheme: salted or not is what the caller says, and `--schemes` judges that.
    private func bareHash(
        _ stored: borrowing SecretBytes, _ salt: [UInt8], _ schemes: HashSchemes
    ) throws(CryptoError) -> StoredHash {
        let algorithm = try DigestAlgorithm(named: alg ?? "")
        let hash = try StoredHash(
            bare: String(decoding: stored.publicBytes(), as: UTF8.self), as: encoding ?? .hex, algorithm, salt: salt)
        guard schemes.allows(try HashScheme(.sdk, algorithm, isSalted: !salt.isEmpty)) else { throw .schemeNotAllowed }
        return hash
    }

    private func answer(_ answer: HashChecker.Answer, _ door: Door) throws {
        if case .refused(let error) = answer { throw error }
        if door.output.format == .json {
            var document = JSONDocument()
            document.field("result", .text(answer.word))
            try door.output.document(document)
            guard answer == .match else { throw Answered(status: .badSecret) }
            return
        }
        guard answer == .match else { throw Failure(.badSecret, "the value is not the stored hash's") }
    }

    private func checkPairs(_ file: String, _ door: Door, _ checker: inout HashChecker) throws {
        var tally = Tally()
        try FilePieces.readLines(file) { try tally.add(checker.check(pairs: $0)) }
        try tally.finish(door)
    }

    private func checkLines(_ file: String, _ door: Door, _ check: (Span<UInt8>) throws -> HashChecker.Answer) throws {
        var tally = Tally()
        try FilePieces.readLines(file) { block in
            var answers: [HashChecker.Answer] = []
            try block.forEachLine { answers.append(try check($0)) }
            try tally.add(answers)
        }
        try tally.finish(door)
    }
}

extension HashChecker.Answer {
    fileprivate var word: String {
        switch self {
        case .match: "match"
        case .mismatch: "mismatch"
        case .refused: "refused"
        }
    }

    fileprivate var line: String {
        if case .refused(let error) = self { return "refused\t\(Failure(error).message)\n" }
        return word + "\n"
    }
}

/// The answers of a batch, printed as they come and counted.
private struct Tally {
    private var counts = [0, 0, 0]

    mutating func add(_ answers: [HashChecker.Answer]) throws(Failure) {
        var text = ""
        for answer in answers {
            text += answer.line
            switch answer {
            case .match: counts[0] += 1
            case .mismatch: counts[1] += 1
            case .refused: counts[2] += 1
            }
        }
        try StandardOutput.write(text)
    }

    func finish(_ door: Door) throws {
        door.output.notice("\(counts[0]) match, \(counts[1]) mismatch, \(counts[2]) refused")
        guard counts[1] == 0, counts[2] == 0 else { throw Answered(status: .badSecret) }
    }
}
