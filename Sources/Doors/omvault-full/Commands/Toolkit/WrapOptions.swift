internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// The options that `crypto wrap` and `crypto unwrap` share.
struct WrapOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The algorithm: \(WrapAlgorithm.names).", valueName: "name"),
        completion: .algorithms("wrap"))
    var alg = AESKeyWrap.kwp.name

    @Option(help: ArgumentHelp("Where the wrapping key comes from, or om://VAULT/ITEM.", valueName: "source"))
    var kekFrom: KeySourceArgument?

    @Option(help: ArgumentHelp("raw, hex or base64.", valueName: "encoding"))
    var kekEncoding = ByteEncoding.raw

    @Option(help: ArgumentHelp("Where the key, or the wrapped key, comes from.", valueName: "source"))
    var keyFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("raw, hex or base64.", valueName: "encoding"))
    var keyEncoding = ByteEncoding.raw

    @Option(help: ArgumentHelp("How the result is written: raw, hex or base64.", valueName: "encoding"))
    var encoding = ByteEncoding.raw

    @Option(
        name: [.customShort("o"), .customLong("out")], help: ArgumentHelp("Where the result goes.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Replace the file of -o.")
    var force = false

    @OptionGroup var publicKey: PublicKeyWrapOptions
    @OptionGroup var work: WorkOptions
    /// The options of the vault that holds the wrapping key.
    @OptionGroup var unlock: UnlockOptions

    func key(_ secrets: borrowing SecretSources, prompt: String) throws(Failure) -> SecretBytes {
        try secrets.readBytes("--key-from", prompt: prompt, keyEncoding)
    }

    func write(_ result: borrowing SecretBytes, _ context: CommandContext) throws(Failure) {
        var target = try OutputFile(output, replacing: force)
        let encoded = encoding.encode(result)
        if target.isStandardOutput, StandardOutput.isTerminal { return try context.output.writeSecret(encoded) }
        try target.write(encoded)
        if encoding != .raw { try target.write([UInt8(ascii: "\n")].span) }
        try target.finish()
    }

    func sources(_ context: CommandContext) throws(Failure) -> SecretSources {
        let isInVault = kekFrom?.reference != nil
        guard isInVault || (unlock.given.isEmpty && unlock.keyslot == nil) else {
            throw Failure(
                .usage, "\(unlock.given.first?.key ?? "--keyslot") opens a vault, and none is named",
                hint: "--kek-from om://VAULT/ITEM")
        }
        return try SecretSources(
            context,
            [
                ("--kek-from", kekFrom?.source), ("--key-from", keyFrom),
                ("--kek-password-from", publicKey.kekPasswordFrom),
            ] + (isInVault ? unlock.sources : []))
    }

    /// Reads the key of --kek-from.
    ///
    /// - Parameter field: The field of an item in a vault, if the reference names none.
    private func kekBytes(_ field: String, _ secrets: borrowing SecretSources, _ context: CommandContext) throws -> SecretBytes {
        guard let reference = kekFrom?.reference else {
            return try secrets.read(
                "--kek-from", prompt: "Wrapping key (\(kekEncoding.rawValue))",
                keepNewline: kekEncoding == .raw, maximum: KeyFile.maximumCount)
        }
        return try KeyOrigin.vault(reference).bytes(field, secrets: secrets, unlock: unlock, context: context)
    }

    func wrappingKey(_ secrets: borrowing SecretSources, _ context: CommandContext) throws -> SecretBytes {
        let key = try kekEncoding.decode(kekBytes("key", secrets, context), of: "--kek-from")
        guard [16, 24, 32].contains(key.count) else {
            throw Failure(
                .usage, "\(alg) takes a wrapping key of 16, 24 or 32 bytes; this one has \(key.count)",
                hint: Self.keyFileHint(key) ?? "--kek-encoding hex or base64 reads text")
        }
        return key
    }

    func holder(_ secrets: borrowing SecretSources, _ context: CommandContext) throws -> PublicKey {
        try holderFile.publicKey(kekBytes("public", secrets, context), secrets)
    }

    func privateHolder(_ secrets: borrowing SecretSources, _ context: CommandContext) throws -> PrivateKey {
        try holderFile.privateKey(kekBytes("private", secrets, context), secrets)
    }

    private var holderFile: KeyFileOpening {
        KeyFileOpening(passwordOption: "--kek-password-from", limit: work.limit)
    }

    /// The hint for a key file that was given as a symmetric key. Nil if the bytes are not a key file.
    private static func keyFileHint(_ key: borrowing SecretBytes) -> String? {
        guard let kind = try? KeyFile(key).publicKey().kind else { return nil }
        switch kind {
        case .rsa: return "it is an RSA key: --alg rsa-oaep-sha256"
        case .x25519: return "it is an X25519 key: --alg x25519"
        case .ec, .ed25519: return "it is a key of type \(kind.name), which cannot wrap: use an RSA or X25519 key"
        }
    }

    /// - Throws: ``ExitStatus/usage`` for an option without effect.
    func requireApplicable(to algorithm: WrapAlgorithm) throws(Failure) {
        switch algorithm {
        case .publicKey(.oaep): break
        case .aes, .publicKey:
            guard publicKey.mgf == nil, publicKey.label.isEmpty else {
                throw Failure(usage: "--mgf and --label are for rsa-oaep, not for \(alg)")
            }
        }
        switch algorithm {
        case .aes:
            guard publicKey.kekPasswordFrom == nil, !work.isGiven else {
                let option = work.isGiven ? "--max-work" : "--kek-password-from"
                throw Failure(usage: "\(option) is for key files, and \(alg) takes bare bytes")
            }
        case .publicKey:
            guard kekEncoding == .raw else {
                throw Failure(usage: "--kek-encoding is for bare bytes, and \(alg) takes a key file")
            }
        }
    }
}
