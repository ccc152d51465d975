// What `crypto encrypt` and `crypto decrypt` share: the options, and which of the two ways they mean.

internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets

struct CipherOptions: ParsableArguments {
    enum Padding: String, CaseIterable, ExpressibleByArgument {
        case pkcs7, none

        var ours: BlockPadding { self == .pkcs7 ? .pkcs7 : .none }
    }

    /// How a bare cipher's result is written down.
    enum Encoding: String, CaseIterable, ExpressibleByArgument {
        case raw, base64, sdk
        case sdkAndroid = "sdk-android"
    }

    enum Derivation: String, CaseIterable, ExpressibleByArgument {
        case pbkdf2, legacy
    }

    @Option(help: ArgumentHelp("The algorithm.", valueName: "name"))
    var alg: String?

    @Flag(help: "The bare cipher, without the container.")
    var raw = false

    @Option(
        name: [.customShort("i"), .customLong("in")],
        help: ArgumentHelp("The data; - is standard input.", valueName: "file"))
    var input: String?

    @Option(
        name: [.customShort("o"), .customLong("out")],
        help: ArgumentHelp("Where the result goes, once it is whole.", valueName: "file"))
    var output: String?

    @Flag(help: "Replace the file of -o.")
    var force = false

    @OptionGroup var key: KeyOptions

    @Option(help: ArgumentHelp("raw, hex or base64.", valueName: "encoding"))
    var keyEncoding = ByteEncoding.raw

    @Option(
        help: ArgumentHelp(
            "Bare ciphers: where the IV or nonce comes from; then it is not carried.", valueName: "source|random"))
    var ivFrom: String?

    @Option(help: ArgumentHelp("raw, hex or base64.", valueName: "encoding"))
    var ivEncoding = ByteEncoding.raw

    @Flag(help: "Bare ciphers: the SDK's IV of zeros.")
    var zeroIV = false

    @Option(help: ArgumentHelp("Bare authenticated ciphers: data that is bound to the message.", valueName: "source"))
    var aadFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Bare ciphers: pkcs7 or none.", valueName: "padding"))
    var padding = Padding.pkcs7

    @Option(help: ArgumentHelp("Bare ciphers: raw, base64, sdk or sdk-android.", valueName: "encoding"))
    var encoding: Encoding?

    @Option(
        help: ArgumentHelp("The form of 'openssl enc': pbkdf2, or legacy without -pbkdf2.", valueName: "derivation"))
    var openssl: Derivation?

    @Option(help: ArgumentHelp("With --openssl: its -md.", valueName: "name"))
    var opensslHash = DigestAlgorithm.sha256.name

    @Option(help: ArgumentHelp("With --openssl pbkdf2: its -iter.", valueName: "n"))
    var opensslIterations = 10_000

    func validate() throws {
        if zeroIV, ivFrom != nil { throw ValidationError("--zero-iv and --iv-from contradict each other") }
        if key.isGiven, !key.isInVault, passwordFrom != nil {
            throw ValidationError("--key-from and --password-from contradict each other")
        }
        if key.opening.unlock.recoveryFrom != nil, !key.isInVault {
            throw ValidationError("--recovery-from opens a vault: name a key in one with --tag or om://VAULT/ITEM")
        }
        if openssl != nil, key.isGiven || ivFrom != nil || zeroIV || aadFrom != nil {
            throw ValidationError("--openssl makes key and IV of the password")
        }
        if openssl != nil, let encoding, encoding != .raw { throw ValidationError("--openssl writes bytes") }
    }
}

/// What is encrypted with.
enum CipherChoice {
    case container(FileAlgorithm)
    case sealed(AEADAlgorithm, keyCount: Int?)
    case bare(BlockAlgorithm, keyCount: Int?)
}

extension CipherOptions {
    static let algorithms = """
        \(FileAlgorithm.allCases.map(\.name).joined(separator: ", ")); bare: aes-128-gcm, xchacha20-poly1305, \
        aes-256-cbc, aes-256-ctr and the others that omvault crypto algs lists
        """

    /// A name that only a bare cipher has means the bare cipher, with or without --raw.
    func choice() throws(Failure) -> CipherChoice {
        let name = alg ?? FileAlgorithm.aes256GCM.name
        let isRaw = raw || openssl != nil || encoding != nil || ivFrom != nil || zeroIV || aadFrom != nil
        if !isRaw, let algorithm = try? FileAlgorithm(named: name) { return .container(algorithm) }
        if let (algorithm, count) = try? AEADAlgorithm.named(name) { return .sealed(algorithm, keyCount: count) }
        if let (algorithm, count) = try? BlockAlgorithm.named(name) { return .bare(algorithm, keyCount: count) }
        throw Failure(.usage, "there is no cipher \"\(name)\"", hint: "one of: \(Self.algorithms)")
    }

    func opensslEnc() throws -> OpenSSLEnc? {
        guard let openssl else { return nil }
        let hash = try DigestAlgorithm(named: opensslHash)
        return OpenSSLEnc(
            openssl == .pbkdf2 ? .pbkdf2(iterations: opensslIterations) : .insecureBytesToKey, hash)
    }

    /// The file's password, or the vault's that the key is in.
    var passwordFrom: SecretSourceArgument? { key.opening.unlock.passwordFrom }

    /// The bytes that --key-from or --tag names.
    ///
    /// - Parameter field: of an item in a vault, when the reference names none.
    func keyBytes(
        _ secrets: borrowing SecretSources, field: String, prompt: String, _ door: Door
    ) throws -> SecretBytes {
        let origin = try key.origin()
        guard case .vault = origin else { return try secrets.readBytes("--key-from", prompt: prompt, keyEncoding) }
        return try keyEncoding.decode(origin.bytes(field, secrets, key.opening, door), of: "--key-from")
    }

    /// The symmetric key, of the length that the algorithm's name asks for.
    func key(
        _ secrets: borrowing SecretSources, _ name: String, count: Int?, allowed: [Int], _ door: Door
    ) throws -> SecretBytes {
        guard key.tag == nil else {
            throw Failure(
                .usage, "\(name) takes a symmetric key, and a tag names a key pair", hint: "--key-from om://VAULT/ITEM")
        }
        let key = try keyBytes(secrets, field: "key", prompt: "Key (\(keyEncoding.rawValue))", door)
        let wanted = count.map { [$0] } ?? allowed
        guard wanted.contains(key.count) else {
            let lengths = wanted.map(String.init).joined(separator: " or ")
            throw Failure(
                .usage, "\(name) takes a key of \(lengths) bytes; this one has \(key.count)",
                hint: "--key-encoding hex or base64 reads text")
        }
        return key
    }
}
