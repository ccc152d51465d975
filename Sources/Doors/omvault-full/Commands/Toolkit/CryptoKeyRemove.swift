internal import ArgumentParser
internal import OMCrypto
internal import OMShell

/// `omvault crypto keyrm`: removes a key pair from the vault.
struct CryptoKeyRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "keyrm",
        abstract: "Remove a key pair from the vault for good.",
        discussion: """
            Removes both halves in one change. Asks first; --yes answers.

              omvault crypto keyrm --tag signing
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(help: ArgumentHelp("The pair's tag.", valueName: "tag"))
    var tag: String

    func run(_ context: CommandContext) throws {
        _ = try KeyPairTag(tag)
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        try access.unlock(secrets, unlock)
        var pairs = VaultKeyPairs(access)
        let names = try KeyPairTag(tag)
        guard try pairs.contains(names.privateName) || pairs.contains(names.publicName) else {
            throw CryptoError.keyPairNotFound
        }
        try context.confirm("Remove the key pair \"\(tag)\" for good?")
        try StoredKeyPair.delete(tag: tag, in: &pairs)
        try context.output.done("removed the key pair \"\(tag)\"", ["removed": .text(tag)])
    }
}
