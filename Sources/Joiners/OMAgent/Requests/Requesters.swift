// The helpers that the agent starts for requests with an access token. docs/formats/agent-protocol.md, "Requests with a token".

internal import Glibc
internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMSystem
internal import Synchronization

/// Starts helpers of requests, and waits for their ends.
final class Requesters: Sendable {
    /// The most that run at the same time.
    static let maximum = 16

    private let program: String
    /// Of the marks: random, so that a mark tells nothing about its token.
    private let key = SecretBytes.random(32)
    private let running = Atomic(0)

    private let most: Int

    /// - Parameter program: The agent's own program.
    init(program: String, most: Int = maximum) { (self.program, self.most) = (program, most) }

    /// - Parameter signer: Signs with the identities of a vault.
    func start(
        _ question: RequesterQuestion, in sessions: SessionStore, signer: (VaultPaths) -> OpenVaultSigner
    ) -> AgentReply {
        if let refused = question.refused {
            sessions.forgetToken(of: question.login) { (token: borrowing SecretBytes) in self.mark(of: token) == refused }
        }
        // Attack: a login replaces the session while its server is asked. The new session's token would go where the old one's may,
        // or without the proof of its key. So the token is this session's, and a session that was replaced never comes back.
        guard let session = sessions.entry(of: question.login), let facts = sessions.requestFacts(of: question.login) else {
            return .noSession
        }
        // Attack: a program has the token sent to a server of the attacker. So only the profile of the login decides.
        // Attack: an attacker on the way reads the token. So over plain http it goes only to this machine.
        guard let origin = ServerURL(question.origin), origin.origin == question.origin, facts.origins.contains(question.origin),
            origin.isSecure || origin.isLoopback
        else { return .foreignOrigin }
        // A token that is bound to a certificate is of no use with another one.
        let own = facts.identity, isBound = facts.constraint == .mtls, isNeeded = isBound || question.identity != nil
        var identity: RequestIdentity?
        if let shown = isBound ? own : question.identity ?? own {
            let signer = signer(shown.vault)
            identity = RequestIdentity(shown.chain, signedBy: signer)
            if isNeeded, let problem = signer.problem(of: shown.chain.identity) {
                return .tokenRefused(.server(.failed(problem)))
            }
        }
        // A server is asked for a token only if a helper can use it.
        guard running.add(1, ordering: .relaxed).newValue <= most else {
            running.subtract(1, ordering: .relaxed)
            return .busy
        }
        switch sessions.token(of: question.login, question.token.forRequest, in: session) {
        case .none:
            running.subtract(1, ordering: .relaxed)
            guard let now = sessions.entry(of: question.login), now !== session else { return .noSession }
            return start(question, in: sessions, signer: signer)
        case .refused(let refusal):
            running.subtract(1, ordering: .relaxed)
            return .tokenRefused(refusal)
        case .given(let token, _, _):
            let mark = mark(of: token.value)
            return start(
                RequestOpening(
                    question.origin, facts.key == nil ? .bearer : .dpop, token: token.value.duplicate(), trusted: facts.trusted,
                    connect: facts.connect, chain: identity?.chain),
                mark, HelperKeys(signer: identity?.signer, token: facts.key))
        }
    }

    /// The helper is counted already.
    private func start(_ opening: consuming RequestOpening, _ mark: [UInt8], _ keys: HelperKeys) -> AgentReply {
        guard let body = opening.encoded() else {
            running.subtract(1, ordering: .relaxed)
            return .tokenRefused(.noToken)
        }
        do throws(AgentError) {
            let (socket, child) = try HelperProcess.start(try AgentProcess.check(program), "--request")
            let channel = FrameChannel(socket)
            let helper = StartedHelper(ChildProcess(child))
            let needsSignatures = opening.needsSignatures
            let signing = needsSignatures ? SigningSocket(keys, to: opening.origin, showing: opening.chain) : nil
            let ends = signing?.takeOtherEnd() ?? []
            defer { ends.forEach { close($0) } }
            let serve: @Sendable () -> Void = { [self] in
                if signing?.serve() ?? true { helper.waitForEnd() }
                running.subtract(1, ordering: .relaxed)
            }
            if !needsSignatures {
                DetachedThread.startOrRunHere(stack: 256 << 10, serve)
            } else if ends.isEmpty || DetachedThread.start(stack: AgentServer.stack, serve) != 0 {
                throw .misbehaved
            }
            do throws(ChannelError) {
                try channel.send(.opening, body, descriptors: ends, within: AgentProtocol.frameTime)
            } catch {
                return .tokenRefused(.server(.failed(.helper)))
            }
            return .requester(Requester(mark, opening.scheme == .dpop ? .dpop : .bearer, channel))
        } catch {
            running.subtract(1, ordering: .relaxed)
            return .tokenRefused(.server(.failed(.helper)))
        }
    }

    private func mark(of token: borrowing SecretBytes) -> [UInt8] {
        let hash = BLAKE2b(count: 16)
        key.withBytes { hash.update($0) }
        token.withBytes { hash.update($0) }
        return hash.digest()
    }
}

/// A helper whose socket another process has. It ends by itself; if it does not, it is killed.
private final class StartedHelper: Sendable {
    private let process: ChildProcess

    init(_ process: consuming ChildProcess) { self.process = process }

    func waitForEnd() { process.waitForEnd(within: Int64(RequestOpening.life) + 5_000) }
}

extension SessionStore {
    /// The session of a login, to compare.
    func entry(of login: LoginReference) -> SessionEntry? { entries.withLock { $0[login] } }

    /// What a helper of requests needs of a session, beside its token. Nil if there is no such session.
    ///
    /// - Returns: `key` is that of its tokens, and `identity` the client certificate of its login.
    func requestFacts(
        of login: LoginReference
    ) -> (
        origins: [String], trusted: [UInt8]?, connect: UInt32, key: TokenKey?, identity: ShownIdentity?,
        constraint: SenderConstraint
    )? {
        entries.withLock { entries in
            guard let entry = entries[login] else { return nil }
            let connect = entry.service?.deadlines.connect ?? OnlineDeadlines().connect
            return (entry.origins, entry.service?.trusted, connect, entry.tokenKey, entry.identity, entry.constraint)
        }
    }

    /// Notes that a server refused an access token of the session, which `isRefused` knows.
    func forgetToken(of login: LoginReference, _ isRefused: (borrowing SecretBytes) -> Bool) {
        entries.withLock { entries in
            guard let entry = entries[login] else { return }
            entry.narrowTokens.removeAll { isRefused($0.access.value) }
            if entry.access.value.count > 0, isRefused(entry.access.value) { entry.isTokenRefused = true }
        }
    }
}
