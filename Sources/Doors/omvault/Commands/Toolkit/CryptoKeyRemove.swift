internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMVault

/// `omvault crypto keyrm`: a key pair out of the vault.
struct CryptoKeyRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "keyrm",
        abstract: "Remove a key pair from the vault for good.",
        discussion: """
            Both halves go in one change. It asks first; --yes answers.

              omvault crypto keyrm --tag signing
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(help: ArgumentHelp("The pair's tag.", valueName: "tag"))
    var tag: String

    func run(_ door: Door) throws {
        _ = try KeyPairTag(tag)
        let access = try VaultAccess(door)
        let secrets = try SecretSources(door, unlock.sources)
        try access.unlock(secrets, unlock)
        var pairs = VaultKeyPairs(access)
        let names = try KeyPairTag(tag)
        guard try pairs.contains(names.privateName) || pairs.contains(names.publicName) else {
            throw CryptoError.keyPairNotFound
        }
        try door.confirm("Remove the key pair \"\(tag)\" for good?")
        try StoredKeyPair.delete(tag: tag, in: &pairs)
        try door.output.done("removed the key pair \"\(tag)\"", ["removed": .text(tag)])
    }
}
