internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// `omvault crypto password-hash`: a password hash to store, which is slow to guess.
struct CryptoPasswordHash: Verb {
    static let configuration = CommandConfiguration(
        commandName: "password-hash",
        abstract: "Hash a password slowly, into a string to store.",
        discussion: """
            Functions: \(PasswordFunction.Family.allCases.map(\.rawValue).joined(separator: ", ")).

              omvault crypto password-hash
              omvault crypto password-hash --alg argon2id --memory 131072 --lanes 2 --value-from file:password
              omvault crypto password-hash --alg pbkdf2 --hash sha512 --iterations 300000

              omvault crypto password-hash --alg yescrypt        # as /etc/shadow has it

            The string is a PHC string. For bcrypt it is crypt(3)'s $2b$, and for sha256crypt, sha512crypt and yescrypt crypt(3)'s
            $5$, $6$ and $y$. 'omvault crypto check' takes it.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var parameters: FunctionOptions
    @OptionGroup var work: WorkOptions
    @OptionGroup var input: DerivationOptions

    @Option(help: ArgumentHelp("The function.", valueName: "name"))
    var alg = PasswordFunction.Family.argon2id

    @Option(parsing: .unconditional, help: ArgumentHelp("The hash's length in bytes, 16 to 64.", valueName: "bytes"))
    var length = 32

    func run(_ context: CommandContext) throws {
        let function = try parameters.function(alg)
        let sources = try input.sources(context)
        let salt = try input.salt(sources)
        let associatedData = try input.associatedData(sources)
        let secret = try input.secret(sources)
        let password = try sources.readPassword("--value-from", prompt: "Password", isNew: true)
        context.output.warn(ofWork: function)
        let hash = try PasswordHash.make(
            password.bytes, function, salt: salt, secret: secret, associatedData: associatedData, count: length,
            limit: work.limit)
        guard context.output.format == .json else { return try context.output.line(hash.text) }
        var document = JSONDocument()
        document.field("algorithm", .text(alg.rawValue))
        document.field("hash", .text(hash.text))
        try context.output.document(document)
    }
}
