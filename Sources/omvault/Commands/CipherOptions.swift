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

    @Option(help: ArgumentHelp("Where the key comes from.", valueName: "source"))
    var keyFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("raw, hex or base64.", valueName: "encoding"))
    var keyEncoding = ByteEncoding.raw

    @Option(help: ArgumentHelp("Where the password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

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
        if keyFrom != nil, passwordFrom != nil {
            throw ValidationError("--key-from and --password-from contradict each other")
        }
        if openssl != nil, keyFrom != nil || ivFrom != nil || zeroIV || aadFrom != nil {
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
        aes-256-gcm, chacha20-poly1305; bare: aes-128-gcm, aes-192-gcm, xchacha20-poly1305, \
        aes-128|192|256-cbc|ctr|ecb, 3des-cbc|ctr|ecb, des-cbc|ctr|ecb
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

    /// The key, of the length that the algorithm's name asks for.
    func key(_ secrets: borrowing SecretSources, _ name: String, count: Int?, allowed: [Int]) throws(Failure)
        -> SecretBytes
    {
        let key = try secrets.readBytes("--key-from", prompt: "Key (\(keyEncoding.rawValue))", keyEncoding)
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
