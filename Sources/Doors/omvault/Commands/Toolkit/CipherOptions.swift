// What `crypto encrypt` and `crypto decrypt` share: the options, and which of the two ways they mean.

internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets

struct CipherFormOptions: ParsableArguments {
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

    @Option(help: ArgumentHelp("raw, hex or base64 (raw).", valueName: "encoding"))
    var keyEncoding: ByteEncoding?

    @Option(
        help: ArgumentHelp(
            "Bare ciphers: where the IV or nonce comes from; then it is not carried.", valueName: "source|random"))
    var ivFrom: String?

    @Option(help: ArgumentHelp("raw, hex or base64 (raw).", valueName: "encoding"))
    var ivEncoding: ByteEncoding?

    @Flag(help: "Bare ciphers: the SDK's IV of zeros.")
    var zeroIV = false

    @Option(help: ArgumentHelp("Bare authenticated ciphers: data that is bound to the message.", valueName: "source"))
    var aadFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Bare ciphers: pkcs7 or none (pkcs7).", valueName: "padding"))
    var padding: Padding?

    @Option(help: ArgumentHelp("Bare ciphers: raw, base64, sdk or sdk-android (raw).", valueName: "encoding"))
    var encoding: Encoding?

    @Option(
        help: ArgumentHelp("The form of 'openssl enc': pbkdf2, or legacy without -pbkdf2.", valueName: "derivation"))
    var openssl: Derivation?

    @Option(help: ArgumentHelp("With --openssl: its -md (sha256).", valueName: "name"))
    var opensslHash: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("With --openssl pbkdf2: its -iter (10000).", valueName: "n"))
    var opensslIterations: Int?

    func validate() throws {
        if zeroIV, ivFrom != nil { throw ValidationError("--zero-iv and --iv-from contradict each other") }
        if openssl != nil, ivFrom != nil || zeroIV || aadFrom != nil {
            throw ValidationError("--openssl makes key and IV of the password")
        }
        if openssl != nil, encoding == .sdk || encoding == .sdkAndroid {
            throw ValidationError("--openssl and --encoding sdk are two forms; --encoding base64 is openssl's -a")
        }
        if openssl == nil, opensslHash != nil || opensslIterations != nil {
            throw ValidationError("--openssl-hash and --openssl-iterations belong to --openssl")
        }
        if openssl == .legacy, opensslIterations != nil {
            throw ValidationError("--openssl-iterations belongs to --openssl pbkdf2")
        }
        if ivEncoding != nil, ivFrom == nil { throw ValidationError("--iv-encoding belongs to --iv-from") }
    }
}

/// The options of a cipher, and the key it takes.
@dynamicMemberLookup
struct CipherOptions {
    let form: CipherFormOptions
    let key: ChosenKey

    subscript<Value>(dynamicMember option: KeyPath<CipherFormOptions, Value>) -> Value { form[keyPath: option] }

    /// - Throws: for what contradicts itself.
    func validate() throws {
        if key.isGiven, !key.isInVault, passwordFrom != nil {
            throw ValidationError("--key-from and --password-from contradict each other")
        }
        if key.opening.unlock.recoveryFrom != nil, !key.isInVault {
            throw ValidationError("--recovery-from opens a vault: name a key in one with --tag or om://VAULT/ITEM")
        }
        if form.openssl != nil, key.isGiven {
            throw ValidationError("--openssl makes key and IV of the password")
        }
        if form.keyEncoding != nil, key.tag != nil {
            throw ValidationError("--key-encoding is how --key-from is spelled, and a tag names a key pair")
        }
    }

    /// - Throws: ``ExitStatus/usage`` for an option that would mean nothing where no key file is opened: nobody shall
    ///   think that it did something.
    func refuseIdle(_ what: String, takesKey: Bool, takesWork: Bool) throws(Failure) {
        let idle = [
            ("--key-encoding", !takesKey && form.keyEncoding != nil),
            ("--max-work", !takesWork && key.opening.work.isGiven),
            ("--key-password-from", key.opening.keyPasswordFrom != nil),
            ("--identity", key.opening.file.identity != nil),
        ]
        guard let option = idle.first(where: { $0.1 })?.0 else { return }
        throw Failure(.usage, "\(option) means nothing for \(what)", hint: "leave it out")
    }
}

/// A verb that encrypts or decrypts.
protocol CipherVerb: KeyVerb {
    var form: CipherFormOptions { get }
}

extension CipherVerb {
    var cipher: CipherOptions { CipherOptions(form: form, key: key) }
}

/// What is encrypted with.
enum CipherChoice {
    case container(FileAlgorithm)
    case sealed(AEADAlgorithm, keyCount: Int?)
    case bare(BlockAlgorithm, keyCount: Int?)
}

extension CipherFormOptions {
    static let algorithms = """
        \(FileAlgorithm.allCases.map(\.name).joined(separator: ", ")); bare: aes-128-gcm, xchacha20-poly1305, \
        aes-256-cbc, aes-256-ctr and the others that omvault crypto algs lists
        """

    /// A name that only a bare cipher has means the bare cipher, with or without --raw.
    ///
    /// - Throws: ``ExitStatus/usage`` for an unknown name, and for an option that would mean nothing.
    func choice() throws(Failure) -> CipherChoice {
        let name = alg ?? FileAlgorithm.aes256GCM.name
        if !raw, openssl == nil, let algorithm = try? FileAlgorithm(named: name) {
            if let option = bareOption {
                throw Failure(
                    .usage, "\(option) is for bare ciphers, and without --raw \(name) is the container",
                    hint: "add --raw, or leave out \(option)")
            }
            return .container(algorithm)
        }
        if let (algorithm, count) = try? AEADAlgorithm.named(name) {
            guard padding == nil else { throw Failure(.usage, "\(name) is never padded", hint: "leave out --padding") }
            return .sealed(algorithm, keyCount: count)
        }
        guard let (algorithm, count) = try? BlockAlgorithm.named(name) else {
            throw Failure(.usage, "there is no cipher \"\(name)\"", hint: "one of: \(Self.algorithms)")
                .with(sdkCode: CryptoError.unknownAlgorithm.sdkCode)
        }
        guard aadFrom == nil else {
            throw Failure(
                .usage, "\(name) binds no data to its message", hint: "--raw --alg aes-256-gcm does; or no --aad-from")
        }
        guard padding != .pkcs7 || algorithm.usesPadding else {
            throw Failure(.usage, "\(name) is never padded", hint: "leave out --padding")
        }
        return .bare(algorithm, keyCount: count)
    }

    /// An option that a container has no use for.
    private var bareOption: String? {
        let given = [
            ("--encoding", encoding != nil), ("--iv-from", ivFrom != nil), ("--zero-iv", zeroIV),
            ("--aad-from", aadFrom != nil), ("--padding", padding != nil),
        ]
        return given.first { $0.1 }?.0
    }

    var blockPadding: BlockPadding { (padding ?? .pkcs7).ours }

    /// What openssl does when it is not told otherwise; fewer are gated.
    static let opensslIterations = 10_000

    func opensslEnc() throws -> OpenSSLEnc? {
        guard let openssl else { return nil }
        let hash = try opensslHash.map { try DigestAlgorithm(named: $0) } ?? OpenSSLEnc.standard.hash
        guard openssl == .pbkdf2 else { return OpenSSLEnc(Insecure.bytesToKey, hash) }
        return OpenSSLEnc(.pbkdf2(iterations: opensslIterations ?? Self.opensslIterations), hash)
    }

}

extension CipherOptions {
    /// The file's password, or the vault's that the key is in.
    var passwordFrom: SecretSourceArgument? { key.opening.unlock.passwordFrom }

    /// The bytes that --key-from or --tag names.
    ///
    /// - Parameter field: of an item in a vault, when the reference names none.
    func keyBytes(
        _ secrets: borrowing SecretSources, field: String, prompt: String, _ door: Door
    ) throws -> SecretBytes {
        let origin = try key.origin()
        let encoding = form.keyEncoding ?? .raw
        guard case .vault = origin else { return try secrets.readBytes("--key-from", prompt: prompt, encoding) }
        return try encoding.decode(origin.bytes(field, secrets, key.opening.unlock, door), of: "--key-from")
    }

    /// The symmetric key, of the length that the algorithm's name asks for.
    func key(
        _ secrets: borrowing SecretSources, _ name: String, count: Int?, allowed: [Int], _ door: Door
    ) throws -> SecretBytes {
        guard key.tag == nil else {
            throw Failure(
                .usage, "\(name) takes a symmetric key, and a tag names a key pair", hint: "--key-from om://VAULT/ITEM")
        }
        let key = try keyBytes(secrets, field: "key", prompt: "Key (\((form.keyEncoding ?? .raw).rawValue))", door)
        guard key.count > 0 else { throw CryptoError.emptyKey }
        let wanted = count.map { [$0] } ?? allowed
        guard wanted.contains(key.count) else {
            let lengths = wanted.map(String.init).joined(separator: " or ")
            throw Failure(
                .usage, "\(name) takes a key of \(lengths) bytes; this one has \(key.count)",
                hint: "--key-encoding hex or base64 reads text"
            ).with(sdkCode: CryptoError.keyLength.sdkCode)
        }
        return key
    }
}
