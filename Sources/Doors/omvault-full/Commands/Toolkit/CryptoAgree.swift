internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// `omvault crypto agree`: derives a key that two owners of key pairs share.
struct CryptoAgree: Verb {
    static let configuration = CommandConfiguration(
        commandName: "agree",
        abstract: "Compute a key that you share with the owner of another key pair.",
        discussion: """
            X25519, or ECDH on P-256, P-384 and P-521. Prints HKDF-SHA-256 of the shared secret; --bare prints the secret itself,
            which you should not use as a key.

              omvault crypto agree --key-from file:mine.pem --peer theirs.pub.pem --length 32 --info "file keys"
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: ChosenKey

    @Option(help: ArgumentHelp("The file of the other's public key.", valueName: "file"), completion: .file())
    var peer: String

    @Option(help: ArgumentHelp("The number of bytes to derive; 32 if not given.", valueName: "bytes"))
    var length: Int?

    @Option(help: ArgumentHelp("HKDF: what the key is for.", valueName: "text"))
    var info = ""

    @Flag(help: "The shared secret itself, not a key derived from it.")
    var bare = false

    @Option(help: ArgumentHelp("raw, hex or base64.", valueName: "encoding"))
    var encoding = ByteEncoding.hex

    @Option(
        name: [.customShort("o"), .customLong("out")], help: ArgumentHelp("Where it goes.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Replace the file of -o.")
    var force = false

    func validate() throws {
        guard (1...255 * 32).contains(length ?? 32) else { throw ValidationError("--length is 1 to \(255 * 32)") }
        if bare, !info.isEmpty || length != nil {
            throw ValidationError("--bare derives no key: leave out --length and --info")
        }
    }

    func run(_ context: CommandContext) throws {
        var target = try OutputFile(output, replacing: force)
        let secrets = try SecretSources(context, key.sources)
        let stored = try InputFile(peer).readWhole(maximum: KeyFile.maximumCount, hint: "a key is a short file")
        let other = try Failure.naming(peer) { try publicKey(stored) }
        let bytes = try key.bytes("private", secrets, context)
        let shared = try key.opening.file.privateKey(bytes, secrets).agree(with: other)
        let derived =
            bare ? shared : HKDF.deriveBytes(from: shared, salt: nil, info: Array(info.utf8), count: length ?? 32)
        let encoded = encoding.encode(derived)
        if target.isStandardOutput, StandardOutput.isTerminal { return try context.output.writeSecret(encoded) }
        try target.write(encoded)
        if encoding != .raw { try target.write([UInt8(ascii: "\n")].span) }
        try target.finish()
    }

    private func publicKey(_ stored: borrowing SecretBytes) throws -> PublicKey {
        let file = try KeyFile(stored)
        // Only private keys are encrypted.
        guard !file.isEncrypted else {
            throw Failure(
                .usage, "\"\(peer)\" holds a private key; --peer takes the other side's public key",
                hint: "omvault crypto pubkey --in FILE extracts its public key")
        }
        return try file.publicKey()
    }
}
