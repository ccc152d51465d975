internal import ArgumentParser
internal import OMSecrets
internal import OMShell

/// The options for the key that a command reads.
struct KeyInputOptions: ParsableArguments {
    @Option(
        name: [.customShort("i"), .customLong("in")],
        help: ArgumentHelp("The key's file, - or om://VAULT/ITEM.", valueName: "file"), completion: .file())
    var input: String?

    @Argument(help: "The key's file, instead of --in.", completion: .file())
    var file: String?

    @Option(help: ArgumentHelp("The tag of a key pair in the vault.", valueName: "tag"))
    var tag: String?

    @OptionGroup var keyFile: KeyFileOptions
    @OptionGroup var work: WorkOptions
    @OptionGroup var unlock: UnlockOptions

    /// A path, `-`, a reference or nil.
    var data: String? { file ?? input }

    func validate() throws {
        if file != nil, input != nil { throw ValidationError("give FILE or --in, not both") }
    }

    /// Whether an option was given that is about taking a key file apart.
    var isForKeyFile: Bool { keyFile.keyPasswordFrom != nil || keyFile.identity != nil || work.isGiven }

    var opening: KeyOpening { KeyOpening(keyFile: keyFile, work: work, unlock: unlock) }

    func sources(
        _ context: CommandContext, _ more: [(key: String, value: SecretSourceArgument?)] = []
    ) throws(Failure) -> SecretSources {
        let isStandardInput = data.map { InputFile.isStandardInput($0) } ?? false
        return try SecretSources(
            context, opening.sources + more, standardInputIsDataOf: isStandardInput ? "--in" : nil)
    }

    /// - Parameter half: The field if the reference names none: `private` or `public`.
    func bytes(_ half: String, _ secrets: borrowing SecretSources, _ context: CommandContext) throws -> SecretBytes {
        try KeyOrigin(file: data, tag: tag).bytes(half, secrets: secrets, unlock: unlock, context: context)
    }
}
