// The exit codes that a command's page lists: those that a script has to expect from it.

internal import OMShell

extension CommandPage {
    /// Any command can get a wrong line, and a standard output that takes no more.
    static let exitStatusesOfEvery: [ExitStatus] = [.ok, .usage, .io]

    /// What the options that open a vault bring.
    static let exitStatusesOfOpening: [ExitStatus] = [
        .noVault, .inputRequired, .permission, .badSecret, .delayed, .corrupt, .rollback, .agent,
    ]

    /// All of them, in the order of their numbers. A group has those of its commands.
    var exitStatuses: [ExitStatus] {
        if words.isEmpty { return ExitStatus.allCases }
        guard !endsAsAnotherProgram else { return [] }
        let found = all.flatMap { page in
            Self.exitStatusesOfEvery + (page.opensVault ? Self.exitStatusesOfOpening : []) + page.ownExitStatuses
        }
        return ExitStatus.allCases.filter(found.contains)
    }

    /// Those that this command has beside the ones of every command, and of every command that opens a vault.
    var ownExitStatuses: [ExitStatus] {
        guard !endsAsAnotherProgram else { return [] }
        var found: Set<ExitStatus> = []
        let options = entries(HelpPage.Section.options)
        for (option, status) in Self.ofOptions where options.contains(where: { $0.label.contains(option) }) {
            found.insert(status)
        }
        // `login start` has a --force that replaces nothing.
        if options.contains(where: { $0.label == "--force" && $0.text.hasPrefix("Replace") }) { found.insert(.exists) }
        for (command, statuses) in Self.ofCommands where words.starts(with: command) { found.formUnion(statuses) }
        found.subtract(Self.exitStatusesOfEvery + (opensVault ? Self.exitStatusesOfOpening : []))
        return ExitStatus.allCases.filter(found.contains)
    }

    /// Whether its exit code is that of another program. Its help says which ones are its own.
    var endsAsAnotherProgram: Bool { words == ["run"] }

    /// Whether it opens a vault in any case. The commands of `crypto` do so only for a key that is in a vault.
    private var opensVault: Bool { !entries(HelpPage.Section.opening).isEmpty && words.first != "crypto" }

    /// Options that bring an exit code, wherever they are.
    private static let ofOptions: KeyValuePairs<String, ExitStatus> = [
        "--if-rev": .conflict, "--insecure": .unsafeAlgorithm, "--clip": .clipboard, "-from <source>": .inputRequired,
    ]

    /// What the commands themselves bring. That of a group holds for all its commands.
    static let ofCommands: [(words: [String], statuses: [ExitStatus])] = [
        (["init"], [.aborted, .exists]),
        (["audit"], [.unsupported, .locked, .notFound, .conflict, .auditFindings]),
        (
            ["client"],
            [
                .aborted, .unsupported, .exists, .locked, .config, .notFound, .policy, .network, .remoteAuth, .remoteError,
                .agent,
            ]
        ),
        (["profile", "preset", "show"], [.unsupported, .notFound]),
        (["vault", "create"], [.aborted, .exists]),
        (["vault", "default"], [.noVault, .permission, .corrupt]),
        (["vault", "rename"], [.unsupported, .exists, .noVault, .permission, .busy, .corrupt, .agent]),
        (["add"], [.exists]),
        (["export"], [.aborted, .exists, .notFound, .conflict, .policy]),
        (["import"], [.aborted, .unsupported, .exists, .notFound, .conflict, .policy, .badSecret, .corrupt, .agent]),
        (["get"], [.notFound, .ambiguous, .conflict]),
        (["inject"], [.exists, .notFound, .ambiguous, .conflict]),
        (["redact"], [.exists]),
        (["set"], [.notFound, .ambiguous, .unchanged]),
        (["edit"], [.aborted, .unsupported, .notFound, .ambiguous, .conflict, .editor]),
        (["mv"], [.exists, .notFound, .ambiguous, .unchanged]),
        (["cp"], [.exists, .notFound, .ambiguous]),
        (["rm"], [.aborted, .notFound, .ambiguous]),
        (["restore"], [.exists, .notFound]),
        (["history"], [.notFound]),
        (["unlock"], [.agent]),
        (["lock"], [.noVault, .agent]),
        (["status"], [.locked]),
        (["key", "add-slot"], [.aborted, .policy]),
        (["key", "rm-slot"], [.aborted, .notFound, .policy]),
        (["key", "rekey"], [.aborted]),
        (["policy"], [.notFound]),
        (["backup", "create"], [.exists, .policy]),
        (["backup", "verify"], [.corrupt]),
        (["backup", "restore"], [.aborted, .exists, .policy]),
        (["sync"], [.notFound]),
        (["sync", "init"], [.unchanged, .badSecret]),
        (["sync", "remote", "add"], [.exists, .ambiguous, .policy, .unchanged, .network]),
        (["sync", "remote", "rm"], [.aborted]),
        (["sync", "now"], [.unsupported, .network]),
        (["sync", "resolve"], [.aborted, .exists, .ambiguous, .conflict, .policy]),
        (["device"], [.notFound]),
        (["device", "add"], [.aborted, .unsupported, .ambiguous, .network]),
        (
            ["device", "join"],
            [
                .aborted, .unsupported, .exists, .notFound, .ambiguous, .policy, .permission, .busy, .badSecret, .corrupt,
                .rollback, .network,
            ]
        ),
        (["device", "rejoin"], [.aborted]),
        (["verify"], [.doctorFindings]),
        (["doctor"], [.permission, .doctorFindings]),
        (["log"], [.noVault, .corrupt]),
        (["log", "verify"], [.badSignature]),
        (["log", "export"], [.badSignature]),
        (["log", "begin"], [.exists]),
        (["login"], [.config, .permission, .busy]),
        (["login", "start"], login + [.agent]),
        (["login", "check"], login),
        (["login", "enroll"], [.badSecret, .delayed, .lockedOut, .wiped, .policy]),
        (["login", "passwd"], [.badSecret, .delayed, .lockedOut, .wiped, .noOffline]),
        (["login", "status"], [.network, .remoteAuth, .remoteError]),
        (["login", "refresh"], [.network, .remoteAuth, .remoteError, .agent]),
        (["login", "unlock"], [.noOffline]),
        (["logout"], [.notFound]),
        (["token"], [.config, .permission]),
        (
            ["token", "get"],
            [
                .aborted, .unsupported, .inputRequired, .locked, .notFound, .ambiguous, .policy, .noOffline, .network,
                .remoteAuth, .remoteError, .io, .agent,
            ]
        ),
        (
            ["token", "exchange"],
            [.unsupported, .locked, .policy, .noOffline, .corrupt, .network, .remoteAuth, .remoteError, .agent]
        ),
        (["token", "load"], [.unsupported, .locked, .notFound, .corrupt, .agent]),
        (["token", "clear"], [.unsupported, .corrupt]),
        (["helper", "git"], tokenHelper + [.aborted]),
        (["helper", "askpass"], [.aborted, .notFound, .ambiguous]),
        (["helper", "kubectl"], tokenHelper),
        (["helper", "docker"], tokenHelper + [.general, .aborted]),
        (["helper", "ssh-agent"], [.general, .noVault, .permission, .agent]),
        (
            ["rest"],
            [
                .general, .aborted, .unsupported, .exists, .locked, .inputRequired, .config, .notFound, .ambiguous, .conflict,
                .policy, .permission, .network, .remoteAuth, .remoteError, .io, .agent,
            ]
        ),
        (["token", "userinfo"], tokenQuestion),
        (["token", "introspect"], tokenQuestion + [.locked]),
        (["token", "revoke"], tokenQuestion + [.locked]),
        (["token", "ls"], [.agent]),
        (["token", "show"], [.unsupported, .notFound, .ambiguous, .agent]),
        (["profile"], [.config, .permission]),
        (["profile", "import"], [.aborted, .policy, .network, .remoteError]),
        (["profile", "discover"], [.aborted, .inputRequired, .policy, .network, .remoteError, .agent]),
        (["profile", "refresh"], [.unsupported, .corrupt, .rollback, .network, .remoteError, .agent]),
        (["profile", "rm"], [.aborted]),
        (["cert", "import"], [.unsupported, .exists, .notFound, .ambiguous, .conflict, .policy, .corrupt, .io]),
        (["cert", "show"], [.notFound]),
        (["cert", "rm"], [.aborted, .notFound, .policy]),
        (["cert", "csr"], [.exists]),
        (["cert", "attach"], [.notFound, .conflict]),
        (
            ["cert", "try"],
            [.locked, .config, .notFound, .permission, .network, .remoteAuth, .remoteError, .agent]
        ),
        (["credential", "get"], [.notFound]),
        (["credential", "rm"], [.notFound]),
        (["crypto", "hash"], [.notFound, .badSecret, .corrupt]),
        (["crypto", "check"], [.unsupported, .policy, .badSecret]),
        (["crypto", "decrypt"], [.badSecret, .corrupt]),
        (["crypto", "unwrap"], [.corrupt]),
        (["crypto", "inspect"], [.badSecret, .corrupt]),
        (["crypto", "keyrm"], [.aborted, .noVault, .notFound, .badSecret]),
        (["crypto", "verify"], [.badSignature]),
        (["vectors", "verify"], [.vectors]),
        (["agent"], [.agent]),
    ]

    private static let tokenQuestion: [ExitStatus] = [
        .unsupported, .notFound, .ambiguous, .policy, .network, .remoteAuth, .remoteError, .agent,
    ]

    private static let tokenHelper: [ExitStatus] = [
        .unsupported, .inputRequired, .config, .notFound, .ambiguous, .policy, .permission, .network, .remoteAuth,
        .remoteError, .agent,
    ]

    private static let login: [ExitStatus] = [
        .inputRequired, .badSecret, .delayed, .lockedOut, .wiped, .noOffline, .corrupt, .rollback, .network, .remoteAuth,
        .remoteError,
    ]
}
