internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// `omvault crypto check`: compares a value with a stored hash.
struct CryptoCheck: Verb {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a value or a file against a stored hash.",
        discussion: """
            Prints nothing. Exits with 0 if the value has that hash, else with 20. Compares in constant time.

              omvault crypto check --hash-from file:stored --value-from tty
              omvault crypto check --hash-from file:stored backup.tar
              omvault crypto check --hash-from file:digest --encoding hex --alg sha256 --schemes all backup.tar
              omvault crypto check --batch pairs.txt

            The stored string names its scheme, and --schemes says which schemes are allowed: names as they stand in the strings
            (SaltedSHA-256, SSHA512, salted-sha256, argon2id, pbkdf2-sha256, bcrypt …), for crypt(3)'s $5$, $6$ and $y$ sha256crypt,
            sha512crypt and yescrypt, and the groups salted, unsalted, password and all. Without --schemes it is salted,password.
            Another scheme is exit 13, and so is more work than --max-work allows. A scheme that omvault does not have is exit 4,
            and so are other hashes of crypt(3), such as $1$.

            Names: \(CryptoCheck.schemeNames).

            If you wrote the string with --no-append-salt, --no-prefix or --no-base64, give the same switch here. Give the salt
            with --salt-from and the algorithm with --alg, if the string does not have them.

            --batch reads lines: a stored hash, a tab and a value. With --hash-from each line is a value. It prints match, mismatch
            or refused for each line. It exits with 0 if there are lines and all match, else with 20.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var work: WorkOptions

    @Option(help: ArgumentHelp("Where the stored hash comes from.", valueName: "source"))
    var hashFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Where the value comes from, instead of FILE.", valueName: "source"))
    var valueFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("The schemes that the stored hash may name.", valueName: "list"))
    var schemes: String?

    @Option(
        help: ArgumentHelp("The form of the stored hash: hex, base64, sdk, sdk-android, ldap, phc.", valueName: "encoding"))
    var encoding: HashEncoding?

    @Option(help: ArgumentHelp("The algorithm of a hash that names none.", valueName: "name"), completion: .algorithms("hash"))
    var alg: String?

    @Option(help: ArgumentHelp("The salt of a hash that holds none.", valueName: "source"))
    var saltFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("How the salt is spelled there: raw, hex or base64.", valueName: "encoding"))
    var saltEncoding = ByteEncoding.raw

    @Flag(help: "The string was written without its salt (sdk, sdk-android).")
    var noAppendSalt = false

    @Flag(help: "The raw digest was written (sdk, sdk-android).")
    var noBase64 = false

    @Flag(help: "The string was written without {name} (sdk, sdk-android).")
    var noPrefix = false

    @Option(help: ArgumentHelp("Argon2's secret, where the hash was made with one.", valueName: "source"))
    var secretFrom: SecretSourceArgument?

    @Flag(help: "Read lines from FILE.")
    var batch = false

    @Argument(
        help: "The file with the data to check; with --batch, the file with the lines. - is standard input.", completion: .file())
    var file: String?

    private var isBare: Bool { encoding == .hex || encoding == .base64 }
    private var isSDK: Bool { encoding == .sdk || encoding == .sdkAndroid }
    /// Whether the stored string lacks the algorithm or the salt, so that options must give them.
    private var isIncomplete: Bool {
        isBare || isSDK && (alg != nil || saltFrom != nil || noAppendSalt || noBase64 || noPrefix)
    }

    func validate() throws {
        if valueFrom != nil, batch || file != nil {
            throw ValidationError(
                batch
                    ? "--batch takes its values from FILE, not from --value-from"
                    : "give FILE or --value-from, not both")
        }
        if !batch, hashFrom == nil { throw ValidationError("--hash-from is missing") }
        if isBare || noPrefix || noBase64, alg == nil {
            throw ValidationError("the stored hash names no algorithm: --alg is missing")
        }
        if alg != nil || saltFrom != nil, !isBare, !isSDK {
            throw ValidationError("--alg and --salt-from are for --encoding hex, base64, sdk and sdk-android")
        }
        if noAppendSalt || noBase64 || noPrefix, !isSDK {
            throw ValidationError("--no-append-salt, --no-base64 and --no-prefix are switches of --encoding sdk")
        }
        if isIncomplete, hashFrom == nil { throw ValidationError("give --hash-from: such hashes cannot be checked in a batch") }
        if secretFrom != nil, isIncomplete { throw ValidationError("--secret-from is for Argon2") }
    }

    func run(_ context: CommandContext) throws {
        let schemes = try schemes.map { try Self.schemes($0) } ?? .standard
        var given: [(key: String, value: SecretSourceArgument?)] = []
        if hashFrom != nil { given.append(("--hash-from", hashFrom)) }
        if saltFrom != nil { given.append(("--salt-from", saltFrom)) }
        if secretFrom != nil { given.append(("--secret-from", secretFrom)) }
        if !batch, file == nil { given.append(("--value-from", valueFrom)) }
        let data = file ?? (batch ? "-" : nil)
        let sources = try SecretSources(context, given, standardInputIsDataOf: data == "-" ? "FILE" : nil)
        let stored =
            hashFrom == nil
            ? SecretBytes(copying: []) : try sources.read("--hash-from", prompt: "Stored hash", keepNewline: noBase64)
        try stored.withBytes(CryptHash.refuse)
        if !isIncomplete { try stored.withBytes(CryptHash.refuseUnknown) }
        let secret =
            secretFrom == nil
            ? SecretBytes(copying: []) : try sources.read("--secret-from", prompt: "Argon2 secret", keepNewline: true)
        if isIncomplete || !batch && file != nil {
            let hash = try hash(stored.publicBytes(), salt: salt(sources), schemes)
            guard !batch else { return try checkLines(data ?? "-", context) { try Self.answer(hash, $0) } }
            var comparison = try HashComparison(hash)
            if let file {
                try FilePieces.read(file) { comparison.update($0) }
            } else {
                comparison.update(try sources.read("--value-from", prompt: "Value"))
            }
            return try answer(comparison.finish() ? .match : .mismatch, context)
        }
        var checker = HashChecker(schemes: schemes, encoding: encoding, limit: work.limit, secret: secret)
        if batch {
            guard hashFrom != nil else { return try checkPairs(data ?? "-", context, &checker) }
            return try checkLines(data ?? "-", context) { line in stored.withBytes { checker.check($0, line) } }
        }
        let value = try sources.read("--value-from", prompt: "Value")
        try answer(stored.withBytes { stored in value.withBytes { checker.check(stored, $0) } }, context)
    }

    /// The fast hash from the string and the options. `--schemes` must allow it in both cases.
    private func hash(_ stored: [UInt8], salt: [UInt8], _ schemes: HashSchemes) throws -> StoredHash {
        let text = String(decoding: stored, as: UTF8.self)
        guard isIncomplete else {
            do { return try schemes.hash(parsing: text, as: encoding) } catch CryptoError.noSuchForm
                where encoding == nil
            {
                throw Failure(
                    .usage, "a password hash takes no FILE", hint: "--value-from file:PATH takes up to 1 MiB")
            }
        }
        let hash = try incompleteHash(stored, text, salt: salt)
        let scheme = try HashScheme(.sdk, hash.algorithm, isSalted: !hash.salt.isEmpty)
        guard schemes.allows(scheme) else { throw CryptoError.schemeNotAllowed }
        return hash
    }

    private func incompleteHash(_ stored: [UInt8], _ text: String, salt: [UInt8]) throws -> StoredHash {
        var algorithm: DigestAlgorithm?
        if let alg { algorithm = try AlgorithmName.digest(alg) }
        if isBare, let encoding, let algorithm {
            return try StoredHash(bare: text, as: encoding, algorithm, salt: salt)
        }
        var switches = SDKHashOptions(appendsSalt: !noAppendSalt, usesBase64: !noBase64, hasPrefix: !noPrefix)
        if saltFrom != nil { switches.appendsSalt = false }
        if alg != nil, !text.hasPrefix("{") { switches.hasPrefix = false }
        return try StoredHash(written: stored, as: encoding ?? .sdk, switches, algorithm: algorithm, salt: salt)
    }

    private func salt(_ sources: borrowing SecretSources) throws(Failure) -> [UInt8] {
        guard saltFrom != nil else { return [] }
        // The iOS SDK's salt is text, and text in a file ends with a newline. Any other salt is taken byte for byte.
        let keepsNewline = saltEncoding == .raw && encoding != .sdk
        let given = try sources.read("--salt-from", prompt: "Salt", keepNewline: keepsNewline)
        return try saltEncoding.decode(given, of: "--salt-from").publicBytes()
    }

    private static func answer(_ hash: StoredHash, _ value: Span<UInt8>) throws -> HashChecker.Answer {
        try hash.matches(SecretBytes(copying: value)) ? .match : .mismatch
    }

    /// - Throws: A usage ``Failure`` with the word that is not a scheme.
    private static func schemes(_ list: String) throws -> HashSchemes {
        for word in list.split(separator: ",", omittingEmptySubsequences: false)
        where (try? HashSchemes(list: String(word))) == nil {
            throw Failure(
                .usage, "--schemes: there is no scheme \"\(word)\"",
                hint: "give the groups salted, unsalted, password and all, or names: omvault crypto check --help")
        }
        return try HashSchemes(list: list)
    }

    private static let schemeNames: String = {
        var seen: Set<String> = []
        let fast = HashScheme.all.map(\.name).filter { seen.insert($0).inserted }
        let slow = PasswordFunction.Family.allCases.flatMap { family in
            family == .pbkdf2
                ? DigestAlgorithm.allCases.filter { $0 != .blake2b256 }
                    .map { PasswordFunction.pbkdf2($0, iterations: 1).name } : [family.rawValue]
        }
        return (fast + slow).joined(separator: ", ")
    }()

    private func answer(_ answer: HashChecker.Answer, _ context: CommandContext) throws {
        if case .refused(let error) = answer { throw error }
        if context.output.format == .json {
            var document = JSONDocument()
            document.field("result", .text(answer.word))
            try context.output.document(document)
            guard answer == .match else { throw AlreadyReported(status: .badSecret) }
            return
        }
        guard answer == .match else {
            throw Failure(
                .badSecret, "the value does not match the stored hash", hint: "a blank or a line end in the value counts too")
        }
    }

    private func checkPairs(_ file: String, _ context: CommandContext, _ checker: inout HashChecker) throws {
        var tally = Tally(isJSON: context.output.format == .json)
        try FilePieces.readLines(file) { try tally.add(checker.check(pairs: $0)) }
        try tally.finish(context)
    }

    private func checkLines(_ file: String, _ context: CommandContext, _ check: (Span<UInt8>) throws -> HashChecker.Answer) throws
    {
        var tally = Tally(isJSON: context.output.format == .json)
        try FilePieces.readLines(file) { block in
            var answers: [HashChecker.Answer] = []
            try block.forEachLine { answers.append(try check($0)) }
            try tally.add(answers)
        }
        try tally.finish(context)
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

/// The counted answers of a batch. They are printed one by one, or as one document at the end.
private struct Tally {
    let isJSON: Bool
    private var counts = [0, 0, 0]
    private var answers: [HashChecker.Answer] = []

    init(isJSON: Bool) { self.isJSON = isJSON }

    mutating func add(_ answers: [HashChecker.Answer]) throws(Failure) {
        var text = ""
        for answer in answers {
            if !isJSON { text += answer.line }
            switch answer {
            case .match: counts[0] += 1
            case .mismatch: counts[1] += 1
            case .refused: counts[2] += 1
            }
        }
        if isJSON { self.answers += answers } else { try StandardOutput.write(text) }
    }

    func finish(_ context: CommandContext) throws {
        guard counts != [0, 0, 0] else {
            throw Failure(
                .badSecret, "the input has no line, so nothing was checked", hint: "each line needs a hash, a tab and a value")
        }
        if isJSON {
            try context.output.document(document)
        } else {
            context.output.notice("\(counts[0]) match, \(counts[1]) mismatch, \(counts[2]) refused")
        }
        guard counts[1] == 0, counts[2] == 0 else { throw AlreadyReported(status: .badSecret) }
    }

    private var document: JSONDocument {
        var document = JSONDocument()
        for (name, count) in zip(["match", "mismatch", "refused"], counts) { document.field(name, .number(count)) }
        document.objects("results", answers) { answer, entry in
            entry.field("result", .text(answer.word))
            guard case .refused(let error) = answer else { return }
            entry.field("reason", .text(Failure(error).message))
            entry.field("sdk_code", .number(error.sdkCode))
        }
        return document
    }
}
