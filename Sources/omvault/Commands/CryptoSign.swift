internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets

/// What signing and verifying have in common.
struct SignatureOptions: ParsableArguments {
    @OptionGroup var key: KeyOptions

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

    func sources(_ door: Door) throws(Failure) -> SecretSources {
        try SecretSources(door, key.sources, standardInputIsDataOf: file == "-" ? "the file to sign" : nil)
    }

    func algorithm(_ kind: KeyKind, _ door: Door) throws -> SignatureAlgorithm {
        var algorithm = try alg.map { try SignatureAlgorithm(named: $0) } ?? SignatureAlgorithm(default: kind)
        if case .rsaPSS(let hash, _, _) = algorithm {
            algorithm = .rsaPSS(hash, mask: try mgf.map { try DigestAlgorithm(named: $0) }, salt: try salt())
        } else if mgf != nil || saltLength != "digest" {
            throw Failure(.usage, "--mgf and --salt-length are for rsa-pss")
        }
        if algorithm.hash?.isInsecure == true {
            door.output.notice("warning: two messages with the same SHA-1 hash can be made on purpose")
        }
        return algorithm
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
    @OptionGroup var options: SignatureOptions

    @Option(help: ArgumentHelp("Where the signature goes; else to standard output.", valueName: "file"))
    var signature: String?

    @Flag(help: "Replace the file of --signature.")
    var force = false

    func run(_ door: Door) throws {
        var target = try OutputFile(signature, replacing: force)
        let secrets = try options.sources(door)
        let bytes = try options.key.origin().bytes("private", secrets, options.key.opening, door)
        let key = try options.key.opening.file.privateKey(bytes, secrets)
        if case .rsa(let bits) = key.kind, bits < 2048 {
            door.output.notice("warning: an RSA key of \(bits) bits can be broken")
        }
        var signer = try Signer(key, options.algorithm(key.kind, door))
        try FilePieces.read(options.file) { try signer.update($0) }
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
    @OptionGroup var options: SignatureOptions

    @Option(help: ArgumentHelp("The file that holds the signature.", valueName: "file"))
    var signature: String

    func run(_ door: Door) throws {
        let secrets = try options.sources(door)
        let stored = try InputFile(signature).readWhole(maximum: 1 << 16, hint: "a signature is a short file")
        let signature = try decoded(stored)
        let bytes = try options.key.origin().bytes("public", secrets, options.key.opening, door)
        let key = try options.key.opening.file.publicKey(bytes, secrets)
        var verifier = try Verifier(key, options.algorithm(key.kind, door))
        try FilePieces.read(options.file) { try verifier.update($0) }
        try verifier.finish(signature)
        guard door.output.format == .json else { return door.output.notice("the signature is right") }
        var document = JSONDocument()
        document.field("verified", .flag(true))
        document.field("fingerprint", .text(Hex.encode(try key.fingerprint())))
        try door.output.document(document)
    }

    /// Text may end with one newline.
    private func decoded(_ stored: borrowing SecretBytes) throws -> [UInt8] {
        var bytes = stored.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        guard options.encoding != .raw else { return bytes }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return try options.encoding.decode(SecretBytes(copying: bytes), of: "--signature").publicBytes()
    }
}
