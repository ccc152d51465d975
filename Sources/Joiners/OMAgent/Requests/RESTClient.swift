// Requests to web services, in the name of a login or of none.

public import OMAgentProtocol
public import OMAuth
public import OMOnlineModel
public import OMSecrets
internal import OMSystem
internal import Synchronization

/// Sends requests through helper processes, one after the other to one origin over one connection.
///
///     let client = RESTClient(program: "/usr/bin/omvault-agent", agent: agent, login: login)
///     let response = try await client.send(try RESTRequest("GET", address))
///     while let piece = try await response.nextPiece() { … }
///
/// With a login, the agent adds the access token of the login's session. This process never has the token.
public final class RESTClient: Sendable {
    private let program: String
    private let session: (agent: AgentClient, login: LoginReference)?
    private let trusted: [UInt8]?
    private let gates: (any WebGateTokenSource)?
    private let identity: RequestIdentity?
    private let restoring: (@Sendable () -> Bool)?
    private let resting = Mutex<RequestChannel?>(nil)
    private let gateTokens = Mutex<[GatePlace: GateToken]>([:])

    /// - Parameters:
    ///   - program: The absolute path of the agent's program. Only this user and root may be able to change it or its folder.
    ///   - agent, login: The session whose access token goes along. Nil for requests without one.
    ///   - trusted: The only trusted certificates of servers that get no token, as PEM. If nil, the system's are trusted.
    ///   - gates: Gets tokens for gates that ask for one.
    public convenience init(
        program: String, agent: AgentClient? = nil, login: LoginReference? = nil, trusting trusted: [UInt8]? = nil,
        gates: (any WebGateTokenSource)? = nil
    ) {
        self.init(program: program, agent: agent, login: login, trusting: trusted, gates: gates, showing: nil)
    }

    /// - Parameters:
    ///   - identity: The client certificate for the origin of each request. With a login the agent must have its vault open.
    ///   - restoring: Gives the agent the session that the ledger has, if it has one.
    package init(
        program: String, agent: AgentClient? = nil, login: LoginReference? = nil, trusting trusted: [UInt8]? = nil,
        gates: (any WebGateTokenSource)? = nil, showing identity: RequestIdentity?,
        restoring: (@Sendable () -> Bool)? = nil
    ) {
        (self.program, self.trusted, self.gates, self.identity) = (program, trusted, gates, identity)
        self.restoring = restoring
        if let agent, let login { session = (agent, login) } else { session = nil }
    }

    /// Sends a request, and returns when the head of the answer has come. Cancelling the task ends the request.
    public func send(_ request: RESTRequest) async throws(RESTError) -> RESTResponse {
        let run = RequestRun(request, hasToken: session != nil, hasCertificate: identity != nil)
        while true {
            guard !Task.isCancelled else { throw .cancelled }
            let response = try await OwnThread.run({ () throws(RESTError) in try self.answer(run) }) { run.cancel() }
            guard let challenge = response.gateChallenge, run.mayAnswerGate else { return response }
            guard let gates else {
                guard session == nil else { throw .gateTokenNeeded }
                return response
            }
            // The SDK's rule: the source gives tokens of a user who is logged in.
            guard session != nil else { throw .noSession }
            try await openGate(challenge, for: run, from: gates)
        }
    }

    /// The same for a caller that may block. It has no source of tokens for gates.
    public func sendBlocking(_ request: RESTRequest) throws(RESTError) -> RESTResponse {
        let run = RequestRun(request, hasToken: session != nil, hasCertificate: identity != nil)
        let response = try answer(run)
        guard response.gateChallenge != nil, session != nil else { return response }
        throw .gateTokenNeeded
    }

    // MARK: - Gates

    /// A gate, and the server that claims to have it. Attack: another server names the same gate, to get its token.
    private struct GatePlace: Hashable {
        let origin: String
        let gate: WebGate
    }

    /// Has the token of a gate ready for the next try. One token is asked for, and one try follows.
    private func openGate(
        _ challenge: GateChallenge, for run: RequestRun, from gates: any WebGateTokenSource
    ) async throws(RESTError) {
        let place = GatePlace(origin: run.origin, gate: challenge.gate)
        var token = gateTokens.withLock { $0[place] }
        if token == nil {
            do throws(AuthError) {
                token = GateToken(try await gates.token(for: challenge.gate, context: challenge.context))
            } catch { throw .gate(error) }
        }
        gateTokens.withLock { $0[place] = token }
        guard let token, run.answerGate(challenge.gate, token) else { throw .bodySpent }
    }

    // MARK: - Steps

    private func answer(_ run: RequestRun) throws(RESTError) -> RESTResponse {
        while true {
            let response = try exchange(run)
            if let gate = run.gate, response.gateChallenge != nil {
                // The token of this gate is of no use any more. The next request asks for another one.
                gateTokens.withLock { $0[GatePlace(origin: run.origin, gate: gate)] = nil }
                return response
            }
            if response.gateChallenge != nil { return response }
            if run.provesKey, response.asksForNonce {
                // Attack: a server asks for another nonce without end.
                guard run.body.canBeSentAgain, run.takeNonce(response.header("DPoP-Nonce")) else { return response }
                try response.endHelper()
                continue
            }
            if run.sentToken, run.mayRenew, try response.refusesToken() {
                guard run.body.canBeSentAgain else { return response }
                try response.endHelper()
                guard try renew(run) else { return response }
                continue
            }
            guard try run.follow(response) else { return response }
        }
    }

    /// Gets a helper with another access token.
    ///
    /// - Returns: false if there is none.
    private func renew(_ run: RequestRun) throws(RESTError) -> Bool {
        guard let refused = run.mark else { return false }
        do throws(RESTError) {
            let channel = try requester(for: run, refused: refused)
            guard channel.mark != refused else {
                channel.cancel()
                return false
            }
            run.useRenewed(channel)
            return true
        } catch {
            switch error {
            // The server's 401 says more than the reason why there is no other token.
            case .token, .noSession: return false
            default: throw error
            }
        }
    }

    private func exchange(_ run: RequestRun) throws(RESTError) -> RESTResponse {
        let channel = try channel(for: run)
        try run.use(channel)
        let wasUsed = channel.wasUsed
        do throws(RESTError) { return try response(run, over: channel) } catch {
            // A resting helper ends at any moment. It has sent nothing then, and only requests that change nothing are sent again.
            guard wasUsed, error == .failed(.failed(.helper)), run.changesNothing else {
                throw error
            }
            let other = try open(run)
            try run.use(other)
            return try response(run, over: other)
        }
    }

    private func response(_ run: RequestRun, over channel: RequestChannel) throws(RESTError) -> RESTResponse {
        let head = try channel.begin(
            run.method, run.address.target, headers: run.takeHeaders(), body: run.body, seconds: try run.secondsLeft())
        return RESTResponse(head, from: run.address, channel) { [weak self] channel in self?.rest(channel) }
    }

    private func channel(for run: RequestRun) throws(RESTError) -> RequestChannel {
        if let renewed = run.takeRenewed() { return renewed }
        let resting = resting.withLock { resting in
            defer { resting = nil }
            return resting
        }
        // The server may close a resting connection at any moment. A request that changes something is sent once, so it gets a new one.
        if let resting, run.changesNothing, resting.key == run.key, resting.canGoOn { return resting }
        return try open(run)
    }

    private func open(_ run: RequestRun) throws(RESTError) -> RequestChannel {
        switch run.key.token {
        case .none:
            return try .start(run.key, program: program, showing: identity) { chain in
                RequestOpening(
                    run.origin, trusted: trusted, connect: OnlineDeadlines().connect, chain: chain)
            }
        case .gate:
            return try .start(run.key, program: program, showing: identity) { chain in
                RequestOpening(
                    run.origin, .gate, token: run.gateToken?.secret.duplicate(), trusted: trusted,
                    connect: OnlineDeadlines().connect, chain: chain)
            }
        case .session:
            do throws(RESTError) { return try requester(for: run, refused: nil) } catch {
                // A session without access tokens can still open gates.
                guard error == .token(.noToken), gates != nil else { throw error }
                run.loseToken()
                return try open(run)
            }
        }
    }

    /// A helper of the agent, with the token of the session.
    ///
    /// - Parameter refused: The mark of the token that the server refused.
    private func requester(for run: RequestRun, refused: [UInt8]?) throws(RESTError) -> RequestChannel {
        guard let session else { throw .noSession }
        func ask() throws(RESTError) -> RequestChannel {
            try session.agent.requester(
                RequesterQuestion(
                    login: session.login, origin: run.origin, token: run.question, refused: refused, identity: shown(by: run)),
                run.key, until: run.end, unless: run.interruption)
        }
        do throws(RESTError) { return try ask() } catch {
            // An agent with another runtime folder has renewed the session. The ledger has it, and this brings it back.
            guard error == .noSession, let restoring, run.takeRestoring(), restoring() else { throw error }
            return try ask()
        }
    }

    /// The certificate that a helper of the agent shows. Nil for none.
    private func shown(by run: RequestRun) -> ShownIdentity? {
        guard run.showsCertificate, let identity, let vault = identity.signer.vault else { return nil }
        return ShownIdentity(chain: identity.chain, vault: vault)
    }

    private func rest(_ channel: RequestChannel) { if channel.canGoOn { resting.withLock { $0 = channel } } }
}

/// The token of a gate, for several helpers.
final class GateToken: Sendable {
    let secret: SecretBytes

    init(_ secret: consuming SecretBytes) { self.secret = secret }
}

extension AgentClient {
    /// Sends one request, with the access token of the login's session if there is a login. ``RESTClient`` sends several over one
    /// connection.
    ///
    /// - Parameter program: The absolute path of the agent's program.
    public func send(
        _ request: RESTRequest, as login: LoginReference?, program: String, gates: (any WebGateTokenSource)? = nil
    ) async throws(RESTError) -> RESTResponse {
        try await RESTClient(program: program, agent: self, login: login, gates: gates).send(request)
    }

    /// The same for a caller that may block.
    public func sendBlocking(
        _ request: RESTRequest, as login: LoginReference?, program: String
    ) throws(RESTError) -> RESTResponse {
        try RESTClient(program: program, agent: self, login: login).sendBlocking(request)
    }
}
