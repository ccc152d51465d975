internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

/// `omvault token ls`: the access tokens that the agent holds, without the tokens.
struct TokenList: Verb {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the access tokens that the agent holds.",
        discussion: """
            LEFT is the seconds that the token lives, or "-" if it has no end; RELEASE says whether 'omvault token get' prints it;
            REMEMBERED says whether the ledger has it too (RememberTokens, or 'token exchange --store'), so that it outlives the agent
            and a reboot.
            KIND is DPoP for a token that is bound to a key of the session: only 'omvault rest' can use it.
            The tokens themselves are not shown.

              omvault token ls
            """)

    @OptionGroup var global: GlobalOptions

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let access = try LoginAccess(context)
        let sessions = try AgentSessionClient(context, access).sessions().filter { $0.token != nil && $0.state != .idle }
        try context.output.list(
            "tokens", sessions, columns: ["PROFILE", "USER", "SCOPES", "LEFT", "RELEASE", "REMEMBERED", "KIND"],
            row: { session in
                let key = session.login.key
                return [
                    key.profile.text, key.user.text, session.token?.scopes.names.joined(separator: " ") ?? "",
                    session.token?.left.map { "\($0)" } ?? "-", session.release.rawValue,
                    session.isInLedger(access) ? "yes" : "no",
                    session.token?.kind.word ?? "",
                ]
            }, object: { session, entry in session.describeToken(&entry, isInLedger: session.isInLedger(access)) })
    }
}

extension AgentSession {
    /// Its token in machine-readable answers. None of it is secret.
    func describeToken(_ entry: inout JSONDocument, isInLedger: Bool) {
        let key = login.key
        entry.field("profile", .text(key.profile.text))
        entry.field("user", .text(key.user.text))
        entry.field("domain", key.domain == .none ? .null : .text(key.domain.text))
        entry.field("scopes", .list(token?.scopes.names.map { .text($0) } ?? []))
        entry.field("expires_in", token?.left.map { .number(Int(clamping: $0)) } ?? .null)
        entry.field("release", .text(release.rawValue))
        entry.field("remembered", .flag(isInLedger))
        entry.field("kind", token.map { .text($0.kind.word) } ?? .null)
    }
}
