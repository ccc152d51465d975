internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// `omvault gen`: passwords and passphrases from the system's generator.
struct GenCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "gen",
        abstract: "Make a password or a passphrase.",
        discussion: """
            Without options: 20 of the 64 letters, digits, "_" and ".", which is 120 bits. None of these characters means anything
            to a shell, in a URL or in CSV. --words takes the large word list of the Electronic Frontier Foundation.

              omvault gen
              omvault gen --words 6
              omvault gen --clip
              omvault gen --pronounceable
              omvault gen --length 16 --chars a-zA-Z0-9
              omvault gen --wordlist eff --entropy 90 --separator .
              omvault add github --field password=cmd:'omvault gen'

            The entropy is exact: the logarithm of the number of passwords that could have been made, each equally likely. It is
            shown at a terminal, and with --json. No vault and no agent is asked.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var options: PasswordOptions

    @Option(parsing: .unconditional, help: ArgumentHelp("How many, each on a line.", valueName: "number"))
    var count = 1

    @OptionGroup var clip: ClipOption

    func validate() throws {
        if count > 1, clip.clip != nil { throw ValidationError("the clipboard holds one text: give --clip without --count") }
        guard (1...1000).contains(count) else { throw ValidationError("--count takes 1 to 1000") }
    }

    func run(_ context: CommandContext) throws {
        let recipe = try options.recipe()
        if let clipboard = try clip.clipboard(context, instead: "omvault gen") {
            return try clipboard.copy(
                recipe.password(), as: "a password of \(Self.text(recipe.entropy)) bits of entropy",
                ["type": .text(options.kind.rawValue), "entropy_bits": .decimal(recipe.entropy)])
        }
        if context.output.format == .json {
            var document = JSONDocument()
            document.field("type", .text(options.kind.rawValue))
            document.field("entropy_bits", .decimal(recipe.entropy))
            document.objects("passwords", 0..<count) { _, entry in entry.secret("password", recipe.password()) }
            return try context.output.document(document)
        }
        for _ in 0..<count {
            var line = SecretBuffer()
            line.append(recipe.password())
            line.append(UInt8(ascii: "\n"))
            try context.output.writeSecret(line.finish())
        }
        guard StandardOutput.isTerminal else { return }
        context.output.notice("\(Self.text(recipe.entropy)) bits of entropy\(count > 1 ? " each" : "")")
    }

    /// With at most one decimal, rounded down.
    static func text(_ bits: Double) -> String {
        let tenths = Int(bits * 10)
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
