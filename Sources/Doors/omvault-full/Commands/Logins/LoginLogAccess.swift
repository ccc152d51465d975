// `omvault log … --logins`: the log of logins, which has no vault.

internal import OMAuth
internal import OMSecrets
internal import OMShell
internal import OMStorage

/// The log of the logins of this home, or of the system store.
struct LoginLogAccess {
    private let access: LoginAccess
    private let context: CommandContext

    init(_ context: CommandContext, system: Bool) throws(Failure) {
        access = try LoginAccess(context, system: system)
        self.context = context
    }

    /// `log ls --logins`
    func list(since: Int64?) throws {
        let report = try report()
        let unproven = Set(report.unproven.map(\.sequence))
        let entries = (report.entries + report.unproven).filter { $0.time >= since ?? .min }.sorted { $0.sequence < $1.sequence }
        for fault in report.breaks {
            context.output.notice("warning: the log was broken: \(fault.words); a new chain began after that")
        }
        if let fault = report.fault {
            context.output.notice(
                "warning: the log is broken: \(fault.words); entries from there on are unproven: others may be missing")
        }
        let owners = try owners(of: entries)
        try context.output.list(
            "entries", entries, columns: ["ENTRY", .time("TIME"), "USER", "PROFILE", "EVENT", "DETAIL"],
            tail: ["broken_at": report.fault.map { .number(Int(clamping: $0.sequence)) } ?? .null],
            row: { entry in
                let (user, profile) = Self.names(of: entry, owners)
                return [
                    "\(entry.sequence)", context.output.time(entry.time), user ?? "-", profile ?? "-",
                    entry.event.name, (unproven.contains(entry.sequence) ? "unproven: " : "") + entry.words(context.output),
                ]
            },
            object: { entry, member in
                let (user, profile) = Self.names(of: entry, owners)
                member.field("entry", .number(Int(clamping: entry.sequence)))
                member.field("time", .text(Timestamp.text(entry.time)))
                member.field("login", entry.login.map { .text(Hex.encode($0)) } ?? .null)
                member.field("user", user.map { .text($0) } ?? .null)
                member.field("profile", profile.map { .text($0) } ?? .null)
                member.field("event", .text(entry.event.name))
                member.field("count", .number(Int(entry.count)))
                member.field("first", .text(Timestamp.text(entry.first)))
                for (name, value) in entry.event.details { member.field(name, value) }
                member.field("proven", .flag(!unproven.contains(entry.sequence)))
            })
    }

    /// `log verify --logins`
    func verify() throws {
        let report = try report()
        if let fault = report.fault {
            throw Failure(
                .badSignature, "the log of logins is broken: \(fault.words)",
                hint: "omvault log ls --logins shows which entries are proven; logins do not depend on the log",
                "omvault log begin --logins begins a new chain, and says so in the log",
                details: ["entry": .number(Int(clamping: fault.sequence)), "fault": .text(fault.kind.rawValue)])
        }
        let begun = report.entries.last { if case .chainBegun = $0.event { true } else { false } }
        let first = begun?.sequence ?? report.entries.first?.sequence ?? 0, last = report.entries.last?.sequence ?? 0
        for fault in report.breaks {
            context.output.notice("warning: the log was broken: \(fault.words); a new chain began after that")
        }
        try context.output.done(
            "the log of logins is whole: entries \(first) to \(last)",
            [
                "result": .text("whole"), "first": .number(Int(clamping: first)), "last": .number(Int(clamping: last)),
                "breaks": .list(report.breaks.map { .number(Int(clamping: $0.sequence)) }),
            ])
    }

    /// `log begin --logins`
    func begin() throws {
        guard let fault = try report().fault else { throw Self.whole }
        try context.confirm("Begin a new chain of the log of logins, broken at entry \(fault.sequence)?")
        guard let found = try access.authenticator().beginLogChain() else { throw Self.whole }
        try context.output.done(
            "began a new chain of the log of logins; the log still shows that \(found.words)",
            ["result": .text("begun"), "broken_at": .number(Int(clamping: found.sequence))])
    }

    private static let whole = Failure(
        .exists, "the log of logins is whole, so it needs no new chain", hint: "omvault log verify --logins checks it")

    private func report() throws(AuthError) -> LoginLogReport { try access.authenticator().log() }

    /// A handout of a token names its user and profile itself: the login may have no row.
    private static func names(of entry: LoginLogEntry, _ owners: [[UInt8]: LoginOwner]) -> (user: String?, profile: String?) {
        if case .tokenGiven(let handout) = entry.event { return (handout.owner.text, handout.profile.text) }
        let owner = entry.login.flatMap { owners[$0] }
        return (owner?.user.text, owner?.profile.text)
    }

    /// The owners of the ids. The log holds few names, but the ledger's rows do. A damaged row gives no name.
    private func owners(of entries: [LoginLogEntry]) throws(AuthError) -> [[UInt8]: LoginOwner] {
        let authenticator = access.authenticator()
        var owners: [[UInt8]: LoginOwner] = [:]
        for id in Set(entries.compactMap(\.login)) { owners[id] = try? authenticator.owner(of: id) }
        return owners
    }
}
