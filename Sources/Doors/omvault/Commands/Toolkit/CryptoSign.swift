internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets

/// What signing and verifying have in common.
struct SignatureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "rsa-pss-HASH, rsa-pkcs1-HASH, ecdsa-HASH, ecdsa-p1363-HASH or ed25519; else what suits the key.",
            valueName: "name"))
    var alg: String?

    @Option(
        help: ArgumentHelp("PSS: the salt's length in bytes, digest, or any (max when signing).", valueName: "length"))
    var saltLength = "digest"

    @Option(help: ArgumentHelp("PSS: the mask's hash; else the message's.", valueName: "hash"))
    var mgf: String?

    @Option(help: ArgumentHelp("How the signature is written: raw, base64 or hex.", valueName: "encoding"))
    var encoding = ByteEncoding.raw

    @Argument(help: "The file; - is standard input.")
    var file = "-"

    func sources(_ key: ChosenKey, _ door: Door) throws(Failure) -> SecretSources {
        try SecretSources(door, key.sources, standardInputIsDataOf: InputFile.isStandardInput(file) ? "FILE" : nil)
    }

    func algorithm(_ kind: KeyKind, _ door: Door) throws -> SignatureAlgorithm {
        var algorithm = try alg.map { try SignatureAlgorithm(named: $0) } ?? SignatureAlgorithm(default: kind)
        if case .rsaPSS(let hash, _, _) = algorithm {
            algorithm = .rsaPSS(hash, mask: try mgf.map { try DigestAlgorithm(named: $0) }, salt: try salt())
        } else if mgf != nil || saltLength != "digest" {
            throw Failure(.usage, "--mgf and --salt-length are for rsa-pss")
        }
        if Self.hashes(algorithm).contains(.insecureSHA1) {
            door.output.notice("warning: two messages with the same SHA-1 hash can be made on purpose")
        }
        return algorithm
    }

    /// The message's and the mask's.
    static func hashes(_ algorithm: SignatureAlgorithm) -> [DigestAlgorithm] {
        guard case .rsaPSS(let hash, let mask?, _) = algorithm else { return algorithm.hash.map { [$0] } ?? [] }
        return [hash, mask]
    }

    /// Hands the message over piece by piece.
    func read(_ update: (Span<UInt8>) throws(CryptoError) -> Void) throws {
        do { try FilePieces.read(file) { try update($0) } } catch CryptoError.inputTooLong {
            throw Failure(
                .usage, "Ed25519 reads its message twice, so it is kept in memory: at most 1 GiB",
                hint: "sign a digest of it, or with an RSA or EC key, which takes any length")
        }
    }

    private func salt() throws -> PSSSaltLength {
        switch saltLength {
        case "digest": return .ofDigest
        case "any", "max", "auto": return .any
        default:
            guard let count = Int(saltLength), (0...2048).contains(count) else {
                throw Failure(.usage, "--salt-length is a number of bytes, digest or any")
            }
            return .bytes(count)
        }
    }
}

/// `omvault crypto sign`.
struct CryptoSign: Verb {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign a file or standard input.",
        discussion: """
            Without --alg: rsa-pss-sha256, ecdsa with the curve's hash, ed25519.

              omvault crypto sign --key-from file:id.pem --signature report.sig report.pdf
              omvault crypto sign --tag signing --encoding base64 < report.pdf
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: ChosenKey
    @OptionGroup var options: SignatureOptions

    @Option(help: ArgumentHelp("Where the signature goes; else to standard output.", valueName: "file"))
    var signature: String?

    @Flag(help: "Replace the file of --signature.")
    var force = false

    @Flag(help: "Allow what is only there for old programs: RSA below 2048 bits, MD5.")
    var insecure = false

    func run(_ door: Door) throws {
        var target = try OutputFile(signature, replacing: force)
        let secrets = try options.sources(self.key, door)
        let bytes = try self.key.bytes("private", secrets, door)
        let key = try self.key.opening.file.privateKey(bytes, secrets)
        let algorithm = try options.algorithm(key.kind, door)
        if !insecure {
            try InsecureGate.check(key.kind)
            try SignatureOptions.hashes(algorithm).forEach(InsecureGate.check)
        }
        var signer = try Signer(key, algorithm)
        try options.read { (piece) throws(CryptoError) in try signer.update(piece) }
        let result = options.encoding.encode(SecretBytes(copying: try signer.finish()))
        if target.isStandardOutput, StandardOutput.isTerminal { return try door.output.writeSecret(result) }
        try target.write(result)
        if options.encoding != .raw { try target.write([UInt8(ascii: "\n")].span) }
        try target.finish()
    }
}

/// `omvault crypto verify`.
struct CryptoVerify: Verb {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a signature; exits with 32 when it is wrong.",
        discussion: """
            The key may be a public key, or the private one.

              omvault crypto verify --key-from file:id.pub.pem --signature report.sig report.pdf
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: ChosenKey
    @OptionGroup var options: SignatureOptions

    @Option(help: ArgumentHelp("The file that holds the signature.", valueName: "file"))
    var signature: String

    func validate() throws {
        if InputFile.isStandardInput(signature), InputFile.isStandardInput(options.file) {
            throw ValidationError("--signature and FILE both read standard input; name a file for one of them")
        }
    }

    func run(_ door: Door) throws {
        let secrets = try options.sources(self.key, door)
        let stored = try InputFile(signature).readWhole(
            maximum: 1 << 16, hint: "", tooLong: Failure(CryptoError.badSignature))
        let signature = try decoded(stored)
        let bytes = try self.key.bytes("public", secrets, door)
        let key = try self.key.opening.file.publicKey(bytes, secrets)
        var verifier = try Verifier(key, options.algorithm(key.kind, door))
        try options.read { (piece) throws(CryptoError) in try verifier.update(piece) }
        try verifier.finish(signature)
        guard door.output.format == .json else { return door.output.notice("the signature is right") }
        var document = JSONDocument()
        document.field("verified", .flag(true))
        document.field("fingerprint", .text(Hex.encode(try key.fingerprint())))
        try door.output.document(document)
    }

    /// Text may stand in lines, as base64(1) writes it. What cannot be decoded is no signature of anything.
    private func decoded(_ stored: borrowing SecretBytes) throws -> [UInt8] {
        var bytes = stored.publicBytes()
        guard options.encoding != .raw else { return bytes }
        bytes.removeAll { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        do {
            return try options.encoding.decode(SecretBytes(copying: bytes), of: "--signature").publicBytes()
        } catch { throw CryptoError.badSignature }
    }
}
