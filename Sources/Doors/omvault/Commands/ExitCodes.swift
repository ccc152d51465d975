internal import ArgumentParser

/// `omvault exit-codes`: the table of exit codes, which scripts rely on.
struct ExitCodes: Verb {
    static let configuration = CommandConfiguration(
        commandName: "exit-codes",
        abstract: "List the exit codes and what they mean.",
        discussion: """
            The numbers never change their meaning.

              omvault exit-codes
              omvault exit-codes --json
            """)

    @OptionGroup var global: GlobalOptions

    func run(_ context: CommandContext) throws {
        guard context.output.format == .json else {
            return try context.output.rows(
                ExitStatus.allCases.map { ["\($0.rawValue)", $0.name, $0.meaning] },
                header: ["CODE", "NAME", "MEANING"])
        }
        var document = JSONDocument()
        document.objects("exit_codes", ExitStatus.allCases) { status, entry in
            entry.field("code", .number(Int(status.rawValue)))
            entry.field("name", .text(status.name))
            entry.field("meaning", .text(status.meaning))
        }
        try context.output.document(document)
    }
}
