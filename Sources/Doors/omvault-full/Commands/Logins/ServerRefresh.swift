internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

/// Asks a profile's server for its policy and its endpoints, and stores what it gives. Both questions go through the
/// confined helper, without a password.
struct ServerRefresh {
    private let profile: Profile
    private let access: LoginAccess
    private let output: Output
    private var problem: Failure?

    init(_ profile: Profile, _ access: LoginAccess, _ output: Output) {
        (self.profile, self.access, self.output) = (profile, access, output)
    }

    /// - Parameter before: What is known already. The notices compare with it.
    /// - Returns: Why something is not new now. What was known stays then.
    mutating func run(_ before: ServerDocument) -> Failure? {
        let provider: OnlineProvider
        do {
            guard let found = try self.provider() else { return nil }
            provider = found
        } catch { return Failure(anyError: error) }
        let isReached = askPolicy(provider, before.policy)
        // A server that was not reached is not asked again: each question may take its whole time.
        if isReached { askEndpoints(provider, before.endpoints) }
        return problem
    }

    /// - Returns: Nil if there is nothing to ask.
    private func provider() throws -> OnlineProvider? {
        switch profile.serverKind {
        case .none:
            output.notice("profile \"\(profile.name.text)\" has no server, so nothing was asked")
            return nil
        case .unsupported(let type, _):
            throw Failure(
                .unsupported, "this version cannot ask a server of type \(type.rawValue)",
                hint: "omvault profile show \(profile.name.text.asShellWord)\(access.systemOption) shows the values in force")
        case .basic, .oauthResourceOwner, .oauthClientCredentials, .oauthBrowser, .oauthAssertion, .oauthTokenExchange, .oamms,
            .certificate:
            break
        }
        guard profile.hasServerPolicy || OnlineProvider.namesEndpoints(profile) else {
            output.notice(
                "profile \"\(profile.name.text)\" has no ProfileURL, and names the server's endpoints itself, so nothing was asked"
            )
            return nil
        }
        // Attack: another user of this machine listens at the server's port, and answers root.
        guard !access.isSystem || !profile.couldAnyUserBeServer else {
            throw Failure(AuthError.online(.failed(.unsafeAddress)), under: profile)
        }
        let program = try AgentLauncher.program()
        try AgentProcess.check(program)
        return OnlineProvider(program: program)
    }

    /// - Returns: false if no server was reached.
    private mutating func askPolicy(_ provider: OnlineProvider, _ before: ServerPolicy?) -> Bool {
        do throws(AuthError) {
            guard let offered = try provider.policy(of: profile) else { return true }
            let taken = try access.authenticator().storePolicy(offered, of: profile)
            output.notice(Self.words(offered, taken, before))
            return true
        } catch {
            guard case .policyMissing(let missing) = error else {
                problem = Failure(error, under: profile)
                return true
            }
            guard case .notFetched(let refusal) = missing else {
                problem = Failure(.remoteError, "the server's policy \(missing.words)", hint: missing.hint)
                return true
            }
            problem = Failure(refusal, under: profile)
            switch refusal {
            case .unreachable, .untrusted: return false
            case .rejected, .forbidden, .blocked, .failed: return true
            }
        }
    }

    private mutating func askEndpoints(_ provider: OnlineProvider, _ before: [ServerEndpoint]) {
        do throws(OnlineRefusal) {
            guard let endpoints = try provider.endpoints(of: profile) else { return }
            do throws(AuthError) { try access.authenticator().storeEndpoints(endpoints, of: profile) } catch {
                return note(Failure(error, under: profile))
            }
            for old in before where !endpoints.contains(old) {
                output.notice("the server no longer names \(old.address) as its \(old.kind.name)")
            }
        } catch {
            let failure = Failure(error, under: profile)
            if case .unreachable = error { return note(failure) }
            note(
                Failure(
                    failure.status, "the server's endpoints could not be fetched (\(failure.message))", hints: failure.hints,
                    details: failure.details
                ).with(sdkCode: failure.sdkCode))
        }
    }

    /// The first problem ends the command. A second one is a notice.
    private mutating func note(_ failure: Failure) {
        guard problem != nil else { return problem = failure }
        output.notice(failure.message)
    }

    private static func words(_ offered: ServerPolicy, _ taken: ServerPolicy, _ before: ServerPolicy?) -> String {
        let epoch = "the server's policy has epoch \(offered.epoch)"
        guard taken == offered else { return "\(epoch), as before, and other values: only the stricter ones count" }
        guard let before else { return "\(epoch); none was known before" }
        if before == offered { return "\(epoch), and is the same as before" }
        return before.epoch == offered.epoch
            ? "\(epoch), as before, and stricter values" : "\(epoch); before it was \(before.epoch)"
    }
}
