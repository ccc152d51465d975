internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// The options for the key of a command. The key itself is not yet read.
struct ChosenKey: ParsableArguments {
    @Option(help: ArgumentHelp("Where the key comes from, or om://VAULT/ITEM.", valueName: "source"))
    var keyFrom: KeySourceArgument?

    @Option(help: ArgumentHelp("The tag of a key pair in the vault.", valueName: "tag"))
    var tag: String?

    @OptionGroup var keyFile: KeyFileOptions
    @OptionGroup var work: WorkOptions
    @OptionGroup var unlock: UnlockOptions

    func validate() throws {
        if keyFrom != nil, tag != nil { throw ValidationError("give --key-from or --tag, not both") }
    }

    var opening: KeyOpening { KeyOpening(keyFile: keyFile, work: work, unlock: unlock) }

    var sources: [(key: String, value: SecretSourceArgument?)] {
        [("--key-from", keyFrom?.source)] + opening.sources
    }

    var isGiven: Bool { keyFrom != nil || tag != nil }

    /// Whether the key is in a vault. Then --password-from is for the vault's password.
    var isInVault: Bool { tag != nil || keyFrom?.reference != nil }

    /// The bytes of the key's file, or of its field in the vault.
    ///
    /// - Parameter half: The field if the reference names none: `private` or `public`.
    func bytes(_ half: String, _ secrets: borrowing SecretSources, _ context: CommandContext) throws -> SecretBytes {
        try origin().bytes(half, secrets: secrets, unlock: unlock, context: context)
    }

    func origin() throws -> KeyOrigin {
        if let tag { return .vault(try ValueReference(tag: try KeyPairTag(tag))) }
        if let reference = keyFrom?.reference { return .vault(reference) }
        return .option("--key-from")
    }
}
