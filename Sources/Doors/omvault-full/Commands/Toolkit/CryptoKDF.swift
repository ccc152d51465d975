internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// `omvault crypto kdf`: key bytes from a password or from another key.
struct CryptoKDF: Verb {
    enum Function: String, CaseIterable, ExpressibleByArgument {
        case argon2id, argon2i, argon2d, scrypt, pbkdf2, hkdf
    }

    static let configuration = CommandConfiguration(
        commandName: "kdf",
        abstract: "Derive key bytes from a password, or from a key.",
        discussion: """
            Functions: \(Function.allCases.map(\.rawValue).joined(separator: ", ")). hkdf is fast and
            only for keys. It uses every byte of a raw key; the others strip one trailing newline of a password.

              omvault crypto kdf --alg argon2id --salt-from file:salt --length 32
              omvault crypto kdf --alg hkdf --salt-from file:salt --value-from file:key --length 32
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var parameters: FunctionOptions
    @OptionGroup var work: WorkOptions
    @OptionGroup var input: DerivationOptions

    @Option(help: ArgumentHelp("The function.", valueName: "name"))
    var alg: Function

    @Option(help: ArgumentHelp("How the source encodes the value: raw, hex or base64.", valueName: "encoding"))
    var valueEncoding = ByteEncoding.raw

    @Option(help: ArgumentHelp("HKDF: what the key is for.", valueName: "source"))
    var infoFrom: SecretSourceArgument?

    @Option(parsing: .unconditional, help: ArgumentHelp("The number of bytes to derive.", valueName: "bytes"))
    var length: Int

    @Option(help: ArgumentHelp("raw, hex, base64 or base32.", valueName: "encoding"))
    var encoding = OutputEncoding.hex

    func validate() throws {
        // HKDF is defined without a salt. In the slow functions, equal passwords would give equal keys without one.
        if input.saltFrom == nil, alg != .hkdf { throw ValidationError("--salt-from is missing") }
        if infoFrom != nil, alg != .hkdf { throw ValidationError("--info-from is for hkdf") }
        if input.secretFrom != nil || input.adFrom != nil, !alg.rawValue.hasPrefix("argon2") {
            throw ValidationError("--secret-from and --ad-from are for Argon2")
        }
    }

    func run(_ context: CommandContext) throws {
        let sources = try input.sources(context, [("--info-from", infoFrom)])
        let salt = try input.salt(sources) ?? []
        let info =
            infoFrom == nil ? [] : try sources.read("--info-from", prompt: "Info", keepNewline: true).publicBytes()
        let associatedData = try input.associatedData(sources)
        let secret = try input.secret(sources)
        // Nil for HKDF.
        let function = try passwordFunction()
        warn(function, saltCount: salt.count, context)
        // A newline can be the last byte of a key for HKDF. It is not part of a password.
        let value = try valueEncoding.decode(
            sources.read(
                "--value-from", prompt: function == nil ? "Key" : "Password",
                keepNewline: function == nil && valueEncoding == .raw), of: "--value-from")
        let derived =
            if let function {
                try KeyDerivation.derive(
                    function, value, salt: salt, secret: secret, associatedData: associatedData, count: length)
            } else {
                try KeyDerivation.hkdf(hash(), value, salt: salt, info: info, count: length)
            }
        guard context.output.format == .json else { return try context.output.bytes(derived, as: encoding) }
        var document = JSONDocument()
        document.field("algorithm", .text(alg.rawValue))
        let shown: OutputEncoding = encoding == .raw ? .base64 : encoding
        document.secret("key_\(shown.rawValue)", shown.encode(derived))
        try context.output.document(document)
    }

    /// Nil for HKDF.
    private func passwordFunction() throws -> PasswordFunction? {
        guard let family = PasswordFunction.Family(rawValue: alg.rawValue) else {
            guard parameters.hasNoWorkFactors else {
                throw Failure(usage: "hkdf takes --hash and no work factors")
            }
            guard !work.isGiven else { throw Failure(usage: "--max-work is for slow functions, and hkdf is fast") }
            return nil
        }
        let function = try parameters.function(family)
        try work.limit.check(function, count: length)
        return function
    }

    private func warn(_ function: PasswordFunction?, saltCount: Int, _ context: CommandContext) {
        guard let function else {
            if let algorithm = try? hash() { context.output.warn(ofUsing: algorithm, instead: "--hash sha256") }
            return
        }
        context.output.warn(ofWork: function)
        if saltCount == 0 { context.output.notice("warning: the salt is empty, so equal passwords give equal keys") }
    }

    private func hash() throws(Failure) -> DigestAlgorithm {
        guard let name = parameters.hash else { return .sha256 }
        return try AlgorithmName.digest(name)
    }
}

extension FunctionOptions {
    fileprivate var hasNoWorkFactors: Bool {
        [memory, passes, lanes, logN, blockSize, parallelism, iterations, cost].allSatisfy { $0 == nil }
    }
}
