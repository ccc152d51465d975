internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// `omvault crypto sign`.
struct CryptoSign: Verb {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign a file or standard input.",
        discussion: """
            Without --alg it uses rsa-pss-sha256, ecdsa with the curve's hash, or ed25519.

              omvault crypto sign --key-from file:id.pem --signature report.sig report.pdf
              omvault crypto sign --tag signing --encoding base64 < report.pdf
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: ChosenKey
    @OptionGroup var options: SignatureOptions

    @Option(help: ArgumentHelp("Where the signature goes; else to standard output.", valueName: "file"), completion: .file())
    var signature: String?

    @Flag(help: "Replace the file of --signature.")
    var force = false

    @Flag(help: "Allow what is only there for old programs: RSA below 2048 bits, MD5.")
    var insecure = false

    func run(_ context: CommandContext) throws {
        var target = try OutputFile(signature, replacing: force)
        let secrets = try options.sources(self.key, context)
        let bytes = try self.key.bytes("private", secrets, context)
        let key = try self.key.opening.file.privateKey(bytes, secrets)
        let algorithm = try options.algorithm(key.kind, context)
        if !insecure {
            try InsecureCheck.check(key.kind)
            try SignatureOptions.hashes(algorithm).forEach(InsecureCheck.check)
        }
        var signer = try Signer(key, algorithm)
        try options.read { (piece) throws(CryptoError) in try signer.update(piece) }
        let result = options.encoding.encode(SecretBytes(copying: try signer.finish()))
        if target.isStandardOutput, StandardOutput.isTerminal { return try context.output.writeSecret(result) }
        try target.write(result)
        if options.encoding != .raw { try target.write([UInt8(ascii: "\n")].span) }
        try target.finish()
    }
}
