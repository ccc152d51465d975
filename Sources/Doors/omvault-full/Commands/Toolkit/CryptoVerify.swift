internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// `omvault crypto verify`.
struct CryptoVerify: Verb {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a signature; exits with 32 if it is wrong.",
        discussion: """
            The key may be a public key, or the private one.

              omvault crypto verify --key-from file:id.pub.pem --signature report.sig report.pdf
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: ChosenKey
    @OptionGroup var options: SignatureOptions

    @Option(help: ArgumentHelp("The file that holds the signature.", valueName: "file"), completion: .file())
    var signature: String

    func validate() throws {
        if InputFile.isStandardInput(signature), InputFile.isStandardInput(options.file) {
            throw ValidationError("--signature and FILE both read standard input; name a file for one of them")
        }
    }

    func run(_ context: CommandContext) throws {
        let secrets = try options.sources(self.key, context)
        let stored = try InputFile(signature).readWhole(
            maximum: 1 << 16, hint: "", tooLong: Failure(CryptoError.badSignature))
        let signature = try decoded(stored)
        let bytes = try self.key.bytes("public", secrets, context)
        let key = try self.key.opening.file.publicKey(bytes, secrets)
        var verifier = try SignatureVerifier(key, options.algorithm(key.kind, context))
        try options.read { (piece) throws(CryptoError) in try verifier.update(piece) }
        try verifier.finish(signature)
        guard context.output.format == .json else { return context.output.notice("the signature is valid") }
        var document = JSONDocument()
        document.field("verified", .flag(true))
        document.field("fingerprint", .text(Hex.encode(try key.fingerprint())))
        try context.output.document(document)
    }

    /// Decodes the signature. Text may be split into lines, as base64(1) writes it. Text that cannot be decoded is a bad
    /// signature.
    private func decoded(_ stored: borrowing SecretBytes) throws -> [UInt8] {
        var bytes = stored.publicBytes()
        guard options.encoding != .raw else { return bytes }
        bytes.removeAll { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        do {
            return try options.encoding.decode(SecretBytes(copying: bytes), of: "--signature").publicBytes()
        } catch { throw CryptoError.badSignature }
    }
}
