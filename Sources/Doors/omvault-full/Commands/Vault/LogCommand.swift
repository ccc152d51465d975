internal import ArgumentParser
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMStorage
internal import OMVault

/// `omvault log`: what happened to a vault, or to the logins, on this device.
struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Read and verify the log of vaults and of logins.",
        discussion: """
            The log holds ids and numbers, and no name, value or password. It is sealed with this device's key, so it asks for no
            password. 'omvault ls --fields id,name' tells which id is which item.
            """,
        subcommands: [LogListCommand.self, LogVerifyCommand.self, LogExportCommand.self, LogBeginCommand.self])
}

/// `omvault log ls`: the entries, the oldest first.
struct LogListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the entries of the audit log.",
        discussion: """
            Verifies each entry before it prints it. If the log of a vault is broken, the list ends there with a warning. The log of
            logins goes on, and marks each entry behind the break as unproven.

              omvault log ls --since 2026-11-01
              omvault log ls --json
              omvault log ls --logins
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var login: LoginLogOptions

    @Option(
        help: ArgumentHelp(
            "Only entries from this time on: 2026-11-01 (in UTC), 2026-11-01T12:00:00Z, 2026-11-01T13:00:00+01:00, or @ and "
                + "seconds since 1970.",
            valueName: "time"))
    var since: SinceArgument?

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        if let log = try login.access(context) { return try log.list(since: since?.seconds) }
        let report = try AuditAccess(context).report()
        let entries = report.entries.filter { $0.time >= since?.seconds ?? .min }
        if let fault = report.fault {
            context.output.notice("warning: the log is broken: \(fault.words); the entries from there on are not shown")
        }
        try context.output.list(
            "entries", entries, columns: ["ENTRY", .time("TIME"), "EVENT", "DETAIL"],
            tail: ["broken_at": report.fault.map { .number(Int(clamping: $0.sequence)) } ?? .null],
            row: { ["\($0.sequence)", context.output.time($0.time), $0.event.name, $0.event.words(context.output)] },
            object: { entry, member in entry.write(into: &member) })
    }
}

/// `omvault log verify`: whether each entry is there as this device wrote it.
struct LogVerifyCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that no entry of the audit log was dropped, moved or changed.",
        discussion: """
            Exits with 32 and names the first bad entry.

              omvault log verify
              omvault log verify --logins
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var login: LoginLogOptions

    func run(_ context: CommandContext) throws {
        if let log = try login.access(context) { return try log.verify() }
        let audit = try AuditAccess(context)
        let report = try audit.report()
        if report.isFileReplaced { context.output.replacedFile(of: audit.access.location.name) }
        if let fault = report.fault {
            throw Failure(
                .badSignature, "the log is broken: \(fault.words)",
                hint: "the entries before it are genuine: omvault log ls shows them; omvault verify checks the vault's items",
                details: ["entry": .number(Int(clamping: fault.sequence)), "fault": .text(fault.kind.rawValue)])
        }
        let (first, last) = (report.entries.first?.sequence ?? 0, report.entries.last?.sequence ?? 0)
        try context.output.done(
            "the log is whole: entries \(first) to \(last)",
            [
                "result": .text("whole"), "first": .number(Int(clamping: first)), "last": .number(Int(clamping: last)),
                "file_replaced": .flag(report.isFileReplaced),
            ])
    }
}

/// `omvault log export`: the entries with their bytes, for an archive.
struct LogExportCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print the audit log as JSON, with each entry's bytes.",
        discussion: """
            A broken log is exported up to the break; the exit code is 32 then.

              omvault log export > log.json
            """)

    @OptionGroup var global: GlobalOptions

    func run(_ context: CommandContext) throws {
        let report = try AuditAccess(context).report()
        var document = JSONDocument()
        document.objects("entries", report.entries) { entry, member in
            entry.write(into: &member)
            member.field("bytes", .text(Hex.encode(entry.encoded)))
        }
        document.field("broken_at", report.fault.map { .number(Int(clamping: $0.sequence)) } ?? .null)
        try context.output.document(document)
        if let fault = report.fault {
            context.output.notice("warning: the log is broken: \(fault.words)")
            throw AlreadyReported(status: .badSignature)
        }
    }
}

/// `omvault log begin`: a new chain after a break in the log of logins.
struct LogBeginCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "begin",
        abstract: "Begin a new chain of the log of logins, after a break.",
        discussion: """
            Entries from then on can be proven again. Nothing is removed: the old entries and the break stay. If the log is whole,
            there is nothing to begin (5).

              omvault log begin --logins
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var login: LoginLogOptions

    func run(_ context: CommandContext) throws {
        guard let log = try login.access(context) else {
            throw Failure(.usage, "only the log of logins can begin a new chain", hint: "omvault log begin --logins")
        }
        try log.begin()
    }
}

private struct AuditAccess {
    let access: VaultAccess

    /// Accepts a rollback, since a user needs the log most when the vault is refused.
    init(_ context: CommandContext) throws(Failure) { access = try VaultAccess(context, acceptsRollback: true) }

    func report() throws(Failure) -> AuditLogReport {
        let file = try access.file()
        return try access.run { () throws(VaultError) in try file.auditReport() }
    }
}

/// `--since`: a day in UTC, a moment, or `@` and seconds.
struct SinceArgument: ExpressibleByArgument {
    let seconds: Int64

    init?(argument: String) {
        guard let seconds = argument.hasPrefix("@") ? Int64(argument.dropFirst()) : Timestamp.seconds(argument) else {
            return nil
        }
        self.seconds = seconds
    }
}

extension LogFault {
    var words: String {
        switch kind {
        case .missing: "entry \(sequence) is missing"
        case .changed: "entry \(sequence) is not what this device wrote there"
        case .added: "this device did not write entry \(sequence)"
        }
    }
}

extension AuditEntry {
    fileprivate func write(into member: inout JSONDocument) {
        member.field("entry", .number(Int(clamping: sequence)))
        member.field("time", .text(Timestamp.text(time)))
        member.field("event", .text(event.name))
        for (name, value) in event.details { member.field(name, value) }
    }
}
