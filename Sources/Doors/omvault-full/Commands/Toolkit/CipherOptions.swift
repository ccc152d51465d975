internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// The options that `crypto encrypt` and `crypto decrypt` share.
struct CipherOptions: ParsableArguments {
    enum Padding: String, CaseIterable, ExpressibleByArgument {
        case pkcs7, none

        var ours: BlockPadding { self == .pkcs7 ? .pkcs7 : .none }
    }

    /// The encoding of a bare cipher's result.
    enum Encoding: String, CaseIterable, ExpressibleByArgument {
        case raw, base64, sdk
        case sdkAndroid = "sdk-android"
    }

    enum Derivation: String, CaseIterable, ExpressibleByArgument {
        case pbkdf2, legacy
    }

    @Option(help: ArgumentHelp("The algorithm.", valueName: "name"), completion: .algorithms("container", "cipher"))
    var alg: String?

    @Flag(help: "The bare cipher, without the sealed file around it.")
    var raw = false

    @Option(
        name: [.customShort("i"), .customLong("in")],
        help: ArgumentHelp("The data; - is standard input.", valueName: "file"), completion: .file())
    var input: String?

    @Option(
        name: [.customShort("o"), .customLong("out")],
        help: ArgumentHelp("The file for the result; it appears when it is whole.", valueName: "file"), completion: .file())
    var output: String?

    @Argument(help: "The data, instead of -i.", completion: .file())
    var file: String?

    @Flag(help: "Replace the file of -o.")
    var force = false

    @Option(help: ArgumentHelp("How the source encodes it; raw if not given.", valueName: "encoding"))
    var keyEncoding: ByteEncoding?

    @Option(
        help: ArgumentHelp(
            "Bare ciphers: where the IV or nonce comes from. Then the result does not hold it.", valueName: "source|random"))
    var ivFrom: String?

    @Option(help: ArgumentHelp("How the source encodes it; raw if not given.", valueName: "encoding"))
    var ivEncoding: ByteEncoding?

    @Flag(help: "Bare ciphers: an IV of zeros, as Oracle's IDM Mobile SDK uses.")
    var zeroIV = false

    @Option(help: ArgumentHelp("Bare authenticated ciphers: further data to authenticate.", valueName: "source"))
    var aadFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Bare ciphers: the padding; pkcs7 if not given.", valueName: "padding"))
    var padding: Padding?

    @Option(
        help: ArgumentHelp(
            "Bare ciphers: the form of the result; raw if not given. sdk: as that SDK writes it.", valueName: "encoding"))
    var encoding: Encoding?

    @Option(
        help: ArgumentHelp(
            "The form of 'openssl enc': 'pbkdf2' for files made with -pbkdf2, 'legacy' for files made without it.",
            valueName: "derivation"))
    var openssl: Derivation?

    @Option(help: ArgumentHelp("With --openssl: its -md; sha256 if not given.", valueName: "name"))
    var opensslHash: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("With --openssl pbkdf2: its -iter; 10000 if not given.", valueName: "n"))
    var opensslIterations: Int?

    @OptionGroup var key: ChosenKey

    /// A path, `-` or nil for standard input.
    var data: String? { file ?? input }

    func validate() throws {
        if file != nil, input != nil { throw ValidationError("give FILE or -i, not both") }
        if zeroIV, ivFrom != nil { throw ValidationError("--zero-iv and --iv-from contradict each other") }
        if openssl != nil, ivFrom != nil || zeroIV || aadFrom != nil || key.isGiven {
            throw ValidationError("--openssl derives the key and the IV from the password: leave out the options for them")
        }
        if openssl != nil, encoding == .sdk || encoding == .sdkAndroid {
            throw ValidationError("give --openssl or --encoding sdk, not both; --encoding base64 is the form of openssl enc -a")
        }
        if openssl == nil, opensslHash != nil || opensslIterations != nil {
            throw ValidationError("--openssl-hash and --openssl-iterations belong to --openssl")
        }
        if openssl == .legacy, opensslIterations != nil {
            throw ValidationError("--openssl-iterations belongs to --openssl pbkdf2")
        }
        if ivEncoding != nil, ivFrom == nil { throw ValidationError("--iv-encoding belongs to --iv-from") }
        try validateKey()
    }

    private func validateKey() throws {
        if key.isGiven, !key.isInVault, passwordFrom != nil {
            throw ValidationError("--key-from and --password-from contradict each other")
        }
        if key.unlock.recoveryFrom != nil, !key.isInVault {
            throw ValidationError("--recovery-from opens a vault: name a key in the vault with --tag or om://VAULT/ITEM")
        }
        if keyEncoding != nil, key.tag != nil {
            throw ValidationError("--key-encoding is for --key-from, and --tag names a key pair")
        }
    }
}

extension CipherOptions {
    /// - Throws: ``ExitStatus/usage`` for an option without effect if no key file is opened. Ignoring it would mislead the
    ///   user.
    func refuseIdle(_ what: String, takesKey: Bool, takesWork: Bool) throws(Failure) {
        let idle = [
            ("--key-encoding", !takesKey && keyEncoding != nil),
            ("--max-work", !takesWork && key.work.isGiven),
            ("--key-password-from", key.keyFile.keyPasswordFrom != nil),
            ("--identity", key.keyFile.identity != nil),
        ]
        guard let option = idle.first(where: { $0.1 })?.0 else { return }
        throw Failure(.usage, "\(option) has no effect on \(what)", hint: "leave out \(option)")
    }

    /// The source of the file's password, or of the password of the vault that holds the key.
    var passwordFrom: SecretSourceArgument? { key.unlock.passwordFrom }

    /// Reads the key of --key-from or --tag.
    ///
    /// - Parameter field: The field of an item in a vault, if the reference names none.
    func keyBytes(
        _ secrets: borrowing SecretSources, field: String, prompt: String, _ context: CommandContext
    ) throws -> SecretBytes {
        let encoding = keyEncoding ?? .raw
        guard key.isInVault else { return try secrets.readBytes("--key-from", prompt: prompt, encoding) }
        return try encoding.decode(key.bytes(field, secrets, context), of: "--key-from")
    }

    /// Reads the symmetric key and checks its length.
    func key(
        _ secrets: borrowing SecretSources, _ name: String, count: Int?, allowed: [Int], _ context: CommandContext
    ) throws -> SecretBytes {
        guard key.tag == nil else {
            throw Failure(
                .usage, "\(name) needs a symmetric key, and --tag names a key pair", hint: "--key-from om://VAULT/ITEM")
        }
        let key = try keyBytes(secrets, field: "key", prompt: "Key (\((keyEncoding ?? .raw).rawValue))", context)
        guard key.count > 0 else { throw CryptoError.emptyKey }
        let wanted = count.map { [$0] } ?? allowed
        guard wanted.contains(key.count) else {
            let lengths = wanted.map(String.init).joined(separator: " or ")
            throw Failure(
                .usage, "\(name) needs a key of \(lengths) bytes; this key has \(key.count)",
                hint: "for a key as text, give --key-encoding hex or base64"
            ).with(sdkCode: CryptoError.keyLength.sdkCode)
        }
        return key
    }

    var blockPadding: BlockPadding { (padding ?? .pkcs7).ours }

    /// The default of openssl. Fewer iterations need --insecure.
    static let opensslIterations = 10_000

    func opensslEnc() throws -> OpenSSLEnc? {
        guard let openssl else { return nil }
        let hash = try opensslHash.map { try AlgorithmName.digest($0) } ?? OpenSSLEnc.standard.hash
        guard openssl == .pbkdf2 else { return OpenSSLEnc(Insecure.bytesToKey, hash) }
        return OpenSSLEnc(.pbkdf2(iterations: opensslIterations ?? Self.opensslIterations), hash)
    }
}
