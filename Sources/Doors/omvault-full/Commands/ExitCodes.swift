internal import ArgumentParser
internal import OMShell

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

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        try context.output.list(
            "exit_codes", ExitStatus.allCases, columns: ["CODE", "NAME", "MEANING"],
            row: { ["\($0.rawValue)", $0.name, $0.meaning] },
            object: { status, entry in
                entry.field("code", .number(Int(status.rawValue)))
                entry.field("name", .text(status.name))
                entry.field("meaning", .text(status.meaning))
            })
    }
}
