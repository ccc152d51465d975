internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

/// `omvault token revoke`: revokes the tokens of a session.
struct TokenRevoke: Verb {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke the tokens of a session at the server.",
        discussion: """
            The server revokes the refresh token and the access token (RFC 7009), and the session ends here in any case. The ledger
            does not keep them any more. The exit code says what the server did: 0 only if it has revoked them. Everything else that
            is kept of the login stays;
            'omvault logout' deletes the remembered password too, and ends with 0 also if the server cannot be told.

              omvault token revoke work
              omvault token revoke work --user ada
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile.", completion: .profiles)
    var profile: String

    @OptionGroup var session: SessionUserOptions

    func run(_ context: CommandContext) throws {
        let given = try session.requested()
        let access = try LoginAccess(context)
        let profile = try access.profiles.profile(ProfileName(profile))
        let tokens = try SessionToken(profile, access, context)
        let agent = AgentSessionClient(context, access)
        func login(_ given: RequestedUser) throws -> LoginReference {
            guard let (_, found) = try tokens.find(given) else { throw tokens.noSession(given) }
            guard found.token != nil else { throw Failure(TokenRefusal.noToken, of: found, under: profile) }
            return found.login
        }
        let found = try login(given), key = found.key
        if profile.serverKind == .oauthTokenExchange {
            // 'token load' would bring the revoked token back.
            do throws(AuthError) { _ = try access.authenticator().deleteKeptExchange(profile) } catch {
                throw Failure(error, under: profile)
            }
        }
        var ending = try agent.end(found, password: nil).ending
        if ending == .overtaken || ending == .notThere, profile.remembersTokens {
            // The ledger has the newer state, and this brings it back. Accident: without the names it could be another user's.
            ending = try agent.end(try login(RequestedUser(key)), password: nil).ending
        }
        switch ending {
        case .endedAtServer:
            try context.output.done(
                "the server has revoked the tokens of \(key.user.text.shown) (\(key.profile.text)); the session ended",
                [
                    "result": .text("revoked"), "user": .text(key.user.text), "profile": .text(key.profile.text),
                    "domain": key.domain == .none ? .null : .text(key.domain.text),
                ])
        case .endedHereOnly(.failed(.noLogout, _, _)):
            throw Failure(
                .unsupported,
                "the server has no address that revokes tokens; the session ended here, and the tokens stay valid "
                    + "until they expire",
                hints: OnlineRefusal.failed(.noLogout).logoutHints(profile))
        case .endedHereOnly(let refusal):
            context.output.notice("the session ended here; its tokens may still be valid at the server")
            throw Failure(ofClient: refusal, under: profile)
        case .notThere, .overtaken, .endedHere: throw tokens.noSession(given)
        }
    }
}
