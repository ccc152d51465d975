internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets

/// `--max-work`: how much work a stored string, or a slip of the fingers, may ask for.
struct WorkOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Allow so many times the usual limit of work: 1 GiB of memory filled 4 times, 10,000,000 iterations of "
                + "PBKDF2, bcrypt's cost 16.", valueName: "times"))
    var maxWork: Int?

    var limit: WorkLimit { WorkLimit(factor: maxWork ?? 1) }
    var isGiven: Bool { maxWork != nil }

    func validate() throws {
        guard (1...1 << 20).contains(maxWork ?? 1) else {
            throw ValidationError("--max-work takes a number from 1 to 1048576")
        }
    }
}

/// The work factors of the slow functions; those of another function than the chosen one are refused.
struct FunctionOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: ArgumentHelp("Argon2: memory in KiB.", valueName: "KiB"))
    var memory: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Argon2: passes over the memory.", valueName: "number"))
    var passes: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Argon2: lanes.", valueName: "number"))
    var lanes: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("scrypt: the cost N is 2 to this power.", valueName: "number"))
    var logN: Int?

    @Option(name: .customLong("r"), parsing: .unconditional, help: ArgumentHelp("scrypt: the block size.", valueName: "number"))
    var blockSize: Int?

    @Option(name: .customLong("p"), parsing: .unconditional, help: ArgumentHelp("scrypt: the parallelism.", valueName: "number"))
    var parallelism: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("PBKDF2: iterations.", valueName: "number"))
    var iterations: Int?

    @Option(help: ArgumentHelp("PBKDF2 and HKDF: the hash function.", valueName: "name"))
    var hash: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("bcrypt: 2 to this power rounds, 4 to 31.", valueName: "number"))
    var cost: Int?

    func function(_ family: PasswordFunction.Family) throws -> PasswordFunction {
        let given: [(String, Bool)] = [
            ("--memory", memory != nil), ("--passes", passes != nil), ("--lanes", lanes != nil),
            ("--log-n", logN != nil),
            ("--r", blockSize != nil), ("--p", parallelism != nil), ("--iterations", iterations != nil),
            ("--hash", hash != nil), ("--cost", cost != nil),
        ]
        let function: PasswordFunction
        let own: Set<String>
        switch PasswordFunction.standard(family) {
        case .argon2(let variant, let standard):
            own = ["--memory", "--passes", "--lanes"]
            function = .argon2(
                variant,
                .init(
                    memoryKiB: memory ?? standard.memoryKiB, passes: passes ?? standard.passes,
                    lanes: lanes ?? standard.lanes))
        case .scrypt(let standardCost, let standardSize, let standardParallelism):
            own = ["--log-n", "--r", "--p"]
            function = .scrypt(
                logCost: logN ?? standardCost, blockSize: blockSize ?? standardSize,
                parallelism: parallelism ?? standardParallelism)
        case .pbkdf2(let algorithm, let standard):
            own = ["--iterations", "--hash"]
            function = .pbkdf2(
                try hash.map { try DigestAlgorithm(named: $0) } ?? algorithm, iterations: iterations ?? standard)
        case .bcrypt(let standard):
            own = ["--cost"]
            function = .bcrypt(cost: cost ?? standard)
        }
        if let (foreign, _) = given.first(where: { $0.1 && !own.contains($0.0) }) {
            throw Failure(.usage, "\(foreign) is no parameter of \(family.rawValue)")
        }
        return function
    }
}

/// What a slow function is fed with, for `password-hash` and `kdf`.
struct DerivationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where the password, or the key, comes from.", valueName: "source"))
    var valueFrom: SecretSourceArgument?

    @Option(
        help: ArgumentHelp("Where the salt comes from; a password hash has 16 random bytes else.", valueName: "source"))
    var saltFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("How the salt is spelled there: raw, hex or base64.", valueName: "encoding"))
    var saltEncoding = ByteEncoding.raw

    @Option(help: ArgumentHelp("Argon2's secret, which no string holds.", valueName: "source"))
    var secretFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Argon2's associated data, which the string holds.", valueName: "source"))
    var adFrom: SecretSourceArgument?

    func sources(
        _ door: Door, _ more: [(key: String, value: SecretSourceArgument?)] = []
    ) throws(Failure) -> SecretSources {
        let given = [("--salt-from", saltFrom), ("--secret-from", secretFrom), ("--ad-from", adFrom)] + more
        return try SecretSources(door, given.filter { $0.1 != nil } + [("--value-from", valueFrom)])
    }

    /// Nil when none was given.
    func salt(_ sources: borrowing SecretSources) throws(Failure) -> [UInt8]? {
        guard saltFrom != nil else { return nil }
        return try sources.readBytes("--salt-from", prompt: "Salt", saltEncoding).publicBytes()
    }

    func secret(_ sources: borrowing SecretSources) throws(Failure) -> SecretBytes {
        guard secretFrom != nil else { return SecretBytes(copying: []) }
        return try sources.read("--secret-from", prompt: "Argon2 secret", keepNewline: true)
    }

    func associatedData(_ sources: borrowing SecretSources) throws(Failure) -> [UInt8] {
        guard adFrom != nil else { return [] }
        return try sources.read("--ad-from", prompt: "Associated data", keepNewline: true).publicBytes()
    }
}

/// `omvault crypto password-hash`: a string to store, slow to guess.
struct CryptoPasswordHash: Verb {
    static let configuration = CommandConfiguration(
        commandName: "password-hash",
        abstract: "Hash a password slowly, into a string to store.",
        discussion: """
            Functions: \(PasswordFunction.Family.allCases.map(\.rawValue).joined(separator: ", ")).

              omvault crypto password-hash
              omvault crypto password-hash --alg argon2id --memory 131072 --lanes 2 --value-from file:password
              omvault crypto password-hash --alg pbkdf2 --hash sha512 --iterations 300000

            The string is a PHC string, or crypt(3)'s $2b$ for bcrypt. omvault crypto check takes it.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var parameters: FunctionOptions
    @OptionGroup var work: WorkOptions
    @OptionGroup var input: DerivationOptions

    @Option(help: ArgumentHelp("The function.", valueName: "name"))
    var alg = PasswordFunction.Family.argon2id

    @Option(parsing: .unconditional, help: ArgumentHelp("The hash's length in bytes, 16 to 64.", valueName: "bytes"))
    var length = 32

    func run(_ door: Door) throws {
        let function = try parameters.function(alg)
        let sources = try input.sources(door)
        let salt = try input.salt(sources)
        let associatedData = try input.associatedData(sources)
        let secret = try input.secret(sources)
        let password = try sources.readPassword("--value-from", prompt: "Password", isNew: true)
        door.output.warn(ofWork: function)
        let hash = try PasswordHash.make(
            password.bytes, function, salt: salt, secret: secret, associatedData: associatedData, count: length,
            limit: work.limit)
        guard door.output.format == .json else { return try door.output.line(hash.text) }
        var document = JSONDocument()
        document.field("algorithm", .text(alg.rawValue))
        document.field("hash", .text(hash.text))
        try door.output.document(document)
    }
}
