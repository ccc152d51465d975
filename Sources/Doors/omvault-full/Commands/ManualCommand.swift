internal import ArgumentParser
internal import OMShell

/// `omvault manual`: the man pages, made from the help of the commands. The reference in docs/reference is made from it too.
struct ManualCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Print a man page, or install all of them.",
        discussion: """
            Prints the page of a command, or of omvault itself, for 'man -l -' to show. The page has what --help has, and the
            exit codes.

            --install writes the page of each command into DIR/man1: 'man omvault-get' shows one. man finds the pages in
            ~/.local/share/man if ~/.local/bin is in PATH, and in /usr/local/share/man in any case.

            --markdown writes Markdown instead: a command's page of docs/reference, or with --install those pages into DIR.

              omvault manual get | man -l -
              omvault manual key add-slot | man -l -
              omvault manual --install ~/.local/share/man
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(
        help: ArgumentHelp("The command, in its words; omvault itself if not given.", valueName: "command"),
        completion: .commands)
    var words: [String] = []

    @Flag(help: "Write Markdown instead of man pages.")
    var markdown = false

    @Option(help: ArgumentHelp("Write the pages of all commands into this folder.", valueName: "dir"), completion: .directory)
    var install: String?

    @Flag(help: "Replace pages that are there.")
    var force = false

    func validate() throws {
        if install != nil, !words.isEmpty { throw ValidationError("--install writes all pages; it takes no command") }
        // The pages would go to the root folder.
        if install == "" { throw ValidationError("--install needs a folder") }
        if force, install == nil { throw ValidationError("--force is for --install") }
    }

    func run(_ context: CommandContext) throws {
        let root = CommandPage.root()
        guard let install else {
            let page = try page(root)
            return try StandardOutput.write(markdown ? ReferencePages.text(page) : ManPage.text(page))
        }
        let pages = markdown ? ReferencePages.all(root) : ManPage.all(root)
        try ManualFolder(install).write(pages, replacing: force)
        try context.output.done(
            "\(pages.count) pages are in \"\(install)\"", ["folder": .text(install), "pages": .number(pages.count)])
    }

    /// - Throws: A usage ``Failure`` if the words are no command. It suggests the nearest one.
    private func page(_ root: CommandPage) throws(Failure) -> CommandPage {
        _ = try CommandLineArguments(words + ["--help"], root: CommandTree.self)
        guard let page = root.all.first(where: { $0.words == words }) else {
            throw Failure(
                .usage, "\"\(words.joined(separator: " "))\" is not a command",
                hint: "give a command's words only, as in: omvault manual key add-slot")
        }
        return page
    }
}
