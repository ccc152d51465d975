internal import ArgumentParser
internal import OMSecrets
internal import OMShell

/// The inputs of a derivation, for `password-hash` and `kdf`.
struct DerivationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where the password, or the key, comes from.", valueName: "source"))
    var valueFrom: SecretSourceArgument?

    @Option(
        help: ArgumentHelp("Where the salt comes from. The default of password-hash is 16 random bytes.", valueName: "source"))
    var saltFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("How the source encodes the salt: raw, hex or base64.", valueName: "encoding"))
    var saltEncoding = ByteEncoding.raw

    @Option(help: ArgumentHelp("Argon2's secret. It is not stored in the hash string.", valueName: "source"))
    var secretFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Argon2's associated data. It is stored in the hash string.", valueName: "source"))
    var adFrom: SecretSourceArgument?

    func sources(
        _ context: CommandContext, _ more: [(key: String, value: SecretSourceArgument?)] = []
    ) throws(Failure) -> SecretSources {
        let given = [("--salt-from", saltFrom), ("--secret-from", secretFrom), ("--ad-from", adFrom)] + more
        // Without --value-from the value comes from the terminal.
        return try SecretSources(context, given.filter { $0.1 != nil } + [("--value-from", valueFrom)])
    }

    /// Nil if no salt was given.
    func salt(_ sources: borrowing SecretSources) throws(Failure) -> [UInt8]? {
        guard saltFrom != nil else { return nil }
        return try sources.readBytes("--salt-from", prompt: "Salt", saltEncoding).publicBytes()
    }

    func secret(_ sources: borrowing SecretSources) throws(Failure) -> SecretBytes {
        guard secretFrom != nil else { return SecretBytes(copying: []) }
        return try sources.read("--secret-from", prompt: "Argon2 secret", keepNewline: true)
    }

    func associatedData(_ sources: borrowing SecretSources) throws(Failure) -> [UInt8] {
        guard adFrom != nil else { return [] }
        return try sources.read("--ad-from", prompt: "Associated data", keepNewline: true).publicBytes()
    }
}
