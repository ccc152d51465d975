internal import ArgumentParser
internal import OMItems
internal import OMParcels
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMSyncKeys
internal import OMVault

/// `omvault sync status`
struct SyncStatusCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the remotes, and when news of each device last came.",
        discussion: """
            Does not look into the folders: it shows what the last exchange brought, and what the agent does with each remote while
            it has the vault unlocked. --compare prints 60 digits for each remote. Two devices that know the same state of the remote
            show the same digits.

              omvault sync status
              omvault sync status --compare
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Flag(help: "Also print the digits to compare with another device.")
    var compare = false

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        if let agent = try SyncingAgent(access, unlock) {
            return try show(agent.status, of: access, agent.concerns, agent)
        }
        let synced = SyncedVault(access, try access.open(SecretSources(context, unlock.sources), unlock))
        try show(try synced.status(), of: access, try synced.concerns(), nil)
    }

    private func show(
        _ status: SyncStatus, of access: VaultAccess, _ concerns: SyncConcerns, _ agent: SyncingAgent?
    ) throws {
        let context = access.context
        let remotes = status.remotes.map { remote in
            ShownRemote(remote, status, agent.flatMap { $0.work(on: remote.row) }, compare: compare)
        }
        guard context.output.format != .json else {
            var document = JSONDocument()
            document.field("vault", .text(access.location.name))
            document.field("device", .text(status.name(of: status.own.device)))
            concerns.write(to: &document)
            document.field("recovery_changed", status.recoveryChange.map { .text(Timestamp.text($0.time)) } ?? .null)
            document.field("recovery_changed_by", status.recoveryChange.map { .text(status.name(of: $0.signer)) } ?? .null)
            document.objects("remotes", remotes) { remote, entry in remote.write(to: &entry) }
            return try context.output.document(document)
        }
        try context.output.line(
            "this device is \"\(status.name(of: status.own.device))\", 1 of \(status.members.count.of("member"))")
        if concerns.questions > 0 {
            try context.output.line("\(concerns.questions.of("question")) to settle: omvault sync diff")
        }
        for line in concerns.silentLines() + concerns.awaitedLines(context.output) { try context.output.line(line) }
        if let change = status.recoveryChange {
            let (signer, time) = (status.name(of: change.signer), context.output.time(change.time))
            try context.output.line("the recovery code was changed by \"\(signer)\" at \(time); it does not open this device")
            try context.output.line("  to make it open this device: omvault key add-slot --type shared-recovery")
            try context.output.line("  if it was not you: omvault device remove, then omvault key add-slot --type recovery")
        }
        if remotes.isEmpty { try context.output.line("no remote") }
        for remote in remotes { for line in remote.lines(context.output) { try context.output.line(line) } }
    }
}

private struct ShownRemote {
    let remote: SyncStatus.Remote
    /// Of the other devices. A time is nil if no news came from there.
    let news: [(device: MemberStatus, time: Int64?)]
    let digits: String?
    /// Nil unless the agent has the vault unlocked.
    let work: AgentWork?

    init(_ remote: SyncStatus.Remote, _ status: SyncStatus, _ work: AgentWork?, compare: Bool) {
        (self.remote, self.work) = (remote, work)
        news = status.members.filter { !$0.isThis && $0.kind == .device }.map { ($0, remote.news[$0.number]) }
        digits =
            compare
            ? ComparisonDigits.digits(
                vault: status.vault, incarnation: remote.row.incarnation, heads: remote.heads, rollDigest: status.rollDigest)
            : nil
    }

    func lines(_ output: Output) -> [String] {
        var lines = ["remote \(remote.row.id): \(remote.row.path)"]
        for (device, time) in news {
            lines.append(
                time.map { "  news of \"\(device.shownName)\" from \(output.time($0))" }
                    ?? "  no news of \"\(device.shownName)\" yet")
        }
        if remote.waiting > 0 { lines.append("  \(remote.waiting.of("version")) that wait\(remote.waiting == 1 ? "s" : "")") }
        if let work { lines += work.lines(output).map { "  \($0)" } }
        if let digits { lines.append("  compare: \(digits)") }
        return lines
    }

    func write(to entry: inout JSONDocument) {
        entry.field("remote", .number(Int(remote.row.id)))
        entry.field("folder", .text(remote.row.path))
        entry.field("waiting", .number(remote.waiting))
        entry.objects("news", news) { one, member in
            member.field("device", .text(one.device.shownName))
            member.field("number", .text(SyncStatus.digits(one.device.number)))
            member.field("time", one.time.map { .text(Timestamp.text($0)) } ?? .null)
        }
        entry.field("agent", work.map { .text($0.state) } ?? .null)
        entry.field("agent_time", work?.time.map { .text(Timestamp.text($0)) } ?? .null)
        entry.field("agent_problem", work?.failure.map { .text($0.message) } ?? .null)
        entry.field("compare", digits.map { .text($0) } ?? .null)
    }
}
