internal import ArgumentParser
internal import OMItems
internal import OMMasking
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault redact`: a text without the secrets of a vault.
struct RedactCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "redact",
        abstract: "Replace the secrets of a vault in a text.",
        discussion: """
            Each concealed value of an item in the vault becomes <concealed>. It is found as it is, as JSON, in a URL and in base64.

              omvault redact -i build.log -o build-shown.log
              journalctl -u backup | omvault redact | less

            A value below 4 bytes or above 1 MiB is not looked for, and neither are shown fields, older versions and the trash. A
            notice says how many values of items were left out. Another form of a secret is not found, so look before you share the
            text.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(
        name: .customShort("i"), help: ArgumentHelp("The text; - or nothing: standard input.", valueName: "file"),
        completion: .file())
    var input: String?

    @Option(
        name: .customShort("o"), help: ArgumentHelp("Where to write; - or nothing: standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    func run(_ context: CommandContext) throws {
        var target = try OutputFile(output, replacing: force)
        let access = try VaultAccess(context)
        let secrets = try SecretSources(
            context, unlock.sources, standardInputIsDataOf: InputFile.isStandardInput(input) ? "-i" : nil)
        try access.unlock(secrets, unlock)
        let mask = try mask(of: access, context)
        let text = try InputFile(input)
        var stream = MaskedStream()
        var piece = SecretScratch(count: 256 << 10)
        while true {
            let count = try piece.withMutableBytes(0..<piece.count) { (bytes) throws(Failure) in try text.read(into: &bytes) }
            guard count > 0 else { break }
            let shown = piece.withBytes(count) { stream.add($0, mask) }
            try target.write(shown.span)
        }
        try target.write(stream.finish(mask).span)
        try target.finish(context)
    }

    /// The concealed values of all items that can be read.
    private func mask(of access: VaultAccess, _ context: CommandContext) throws(Failure) -> Mask {
        var list = MaskList()
        var leftOut = 0
        for item in try access.perform(.items(trashed: false)).items() {
            let concealed = Set(item.fields.filter { $0.shownValue == nil && $0.count > 0 }.map(\.name))
            guard !concealed.isEmpty else { continue }
            leftOut += item.fields.count { $0.isLarge }
            let reply: ItemReply
            do throws(Failure) { reply = try access.perform(.secrets(item.name, revision: nil)) } catch {
                // It was removed meanwhile. An item whose name another one has too is refused: it would be shown.
                guard error.status == .notFound else { throw error }
                leftOut += concealed.count
                continue
            }
            guard case .secrets(_, let values) = consume reply else { throw .unexpectedReply }
            values.forEach { name, value in
                if concealed.contains(name), !list.add(value, marker: "<concealed>") { leftOut += 1 }
            }
        }
        if leftOut > 0 {
            context.output.notice("warning: \(leftOut.of("value")) not looked for: too short, too large or not readable")
        }
        return list.mask()
    }
}
