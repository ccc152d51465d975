internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell
internal import Synchronization

/// `omvault rest`: sends a request to a web service.
struct RestCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rest",
        abstract: "Send a request to a web service.",
        discussion: """
            With --profile the agent adds the access token of the session that 'omvault login' left there. This command never has
            the token, so it works with TokenRelease=never too. RESTOrigins of the profile names the servers that may get it (13).
            After a 401 the agent gets another token once. Without --profile no token goes along.

            --cert shows an identity of the vault to a server that asks for a client certificate: with --profile to the servers of
            RESTOrigins, else to the server of the address. The private key stays in the agent, so the vault must be unlocked (7).

            The answer is printed as it comes, whatever its status. The exit code is 0 for 2xx and 3xx, 51 for 401 and 403, 10 for
            404 and 410, 12 for 409 and 412, 52 for 429 and 5xx, and 1 for any other status; --any-status makes it 0.

            SRC is - or stdin, file:PATH, fd:N, env:NAME, cmd:PROGRAM, cred:NAME or tty. Bodies from files and descriptors can have
            any size.

              omvault rest GET https://api.example.org/me --profile work
              omvault rest POST https://api.example.org/notes --profile work -d file:note.json --content-type application/json
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "GET, POST, PUT, PATCH, DELETE or another method.")
    var method: String

    @Argument(help: "The address: https, or http to this machine.")
    var url: String

    @Option(help: "The profile whose session sends the request.", completion: .profiles)
    var profile: String?

    @OptionGroup var session: SessionUserOptions

    @Option(help: ArgumentHelp("The scopes that the token must have, with commas or blanks between them.", valueName: "list"))
    var scopes: String?

    @Option(help: ArgumentHelp("Use a token that only this server takes (RFC 8707).", valueName: "url"))
    var resource: String?

    @Option(help: ArgumentHelp("The client certificate to show.", valueName: "name"), completion: .identities)
    var cert: String?

    @OptionGroup var trust: TrustedCAOption

    @Option(name: [.customShort("d"), .long], help: ArgumentHelp("Where the body comes from.", valueName: "src"))
    var data: RestDataArgument?

    @Option(help: ArgumentHelp("A field of a form, which is the body. Other programs can see it.", valueName: "name=text"))
    var field: [String] = []

    @Option(name: [.customShort("H"), .long], help: ArgumentHelp("A header of the request.", valueName: "name: value"))
    var header: [String] = []

    @Option(help: ArgumentHelp("The type of the body.", valueName: "type"))
    var contentType: String?

    @Flag(name: [.customShort("i"), .long], help: "Print the status and the headers of the answer before its body.")
    var include = false

    @Option(
        name: [.customShort("o"), .customLong("out")],
        help: "Write an answer with a status 2xx to this file, as a whole or not at all.",
        completion: .file())
    var out: String?

    @Flag(help: "Replace the file of -o if it exists.")
    var force = false

    @Flag(help: "Refuse an answer that is no JSON (52).")
    var jsonBody = false

    @Option(help: ArgumentHelp("Follow at most so many redirects, up to 20; none, if not given.", valueName: "n"))
    var follow = 0

    @Option(help: ArgumentHelp("How long the request may take, from 1 to 300; 300, if not given.", valueName: "sec"))
    var timeout = RESTRequest.longest

    @Flag(help: "End with 0 whatever the status of the answer is.")
    var anyStatus = false

    func run(_ context: CommandContext) throws {
        let request = try request(context)
        var target = RestTarget(
            context, try OutputFile(out, replacing: force), path: out, printsHead: include, mustBeJSON: jsonBody,
            takesAnyStatus: anyStatus)
        let client = try client(context)
        // A folder without write access is noticed before the server does anything.
        try target.prepare()
        do {
            let response = try client.rest.sendBlocking(request)
            try target.write(response)
            guard !anyStatus, let failure = Failure(response, ofSession: client.session != nil) else { return }
            throw failure
        } catch let error as RESTError {
            if error == .noSession, let problem = client.restoring.problem { throw problem }
            throw Failure(error, of: client.session, address: request.address)
        }
    }

    // MARK: - The client

    private struct Client {
        let rest: RESTClient
        var session: (session: AgentSession, profile: Profile)? = nil
        var restoring = Restoring()
    }

    /// Why the session could not be restored from the ledger while the request was sent.
    private final class Restoring: Sendable {
        private let noted = Mutex<Failure?>(nil)

        var problem: Failure? { noted.withLock { $0 } }

        /// - Returns: Whether it is restored.
        func succeeds(_ restore: () throws -> Void) -> Bool {
            do {
                try restore()
                return true
            } catch {
                noted.withLock { $0 = Failure(anyError: error) }
                return false
            }
        }
    }

    private func client(_ context: CommandContext) throws -> Client {
        let program = try AgentLauncher.program()
        guard let profile else {
            guard session.user == nil, session.domain == nil, scopes == nil, resource == nil else {
                throw Failure(usage: "--user, --domain, --scopes and --resource need --profile")
            }
            let trusted = try trust.read()
            return Client(
                rest: RESTClient(program: program, trusting: trusted, showing: try identity(nil, context)))
        }
        guard trust.trustedCa == nil else {
            throw Failure(usage: "--trusted-ca has no meaning with --profile: TrustedCA of the profile counts")
        }
        let given = try session.requested()
        let access = try LoginAccess(context)
        let found = try access.profiles.profile(ProfileName(profile))
        let isOfGates = found.serverKind == .oamms
        let tokens = isOfGates ? SessionToken(sessionsOf: found, access, context) : try SessionToken(found, access, context)
        @Sendable func find(_ given: RequestedUser) throws -> (AgentClient, AgentSession) {
            do { return try tokens.session(given) } catch let failure as Failure {
                throw failure.status == .notFound ? failure.with(sdkCode: RESTError.noSession.sdkCode) : failure
            }
        }
        let (agent, session) = try find(given), restoring = Restoring()
        let trusted: [UInt8]?
        do throws(OnlineRefusal) { trusted = try OnlineService(found).trusted } catch { throw Failure(error, under: found) }
        let identity = try identity(found, context)
        // Accident: without the names it could be another user's session.
        let restore: @Sendable () -> Bool = { restoring.succeeds { _ = try find(RequestedUser(session.login.key)) } }
        return Client(
            rest: RESTClient(
                program: program, agent: agent, login: session.login, trusting: trusted, gates: isOfGates ? NoGateTokens() : nil,
                showing: identity,
                restoring: found.remembersTokens ? restore : nil),
            session: (session, found), restoring: restoring)
    }

    /// The identity of `--cert`.
    private func identity(_ profile: Profile?, _ context: CommandContext) throws -> RequestIdentity? {
        guard let cert else { return nil }
        if let profile, profile.senderConstraint == .mtls, profile.clientCertificate != cert {
            throw Failure(
                .usage, "the tokens of profile \"\(profile.name.text)\" are bound to its own ClientCertificate",
                hint: "leave out --cert")
        }
        let found = try OpenIdentities(context).identity(cert, allowsTLS12: profile?.clientCertificateTLS12 ?? false)
        return RequestIdentity(found.chain, signedBy: found.signer)
    }

    // MARK: - The request

    private func request(_ context: CommandContext) throws -> RESTRequest {
        guard let address = ServerURL(url), address.isSecure || address.isLoopback else {
            throw Failure(
                .usage, "the address is no https address, and no http address of this machine",
                hint: "http goes only to localhost, 127.x.x.x and [::1], where no one else can read it")
        }
        guard (0...20).contains(follow) else { throw Failure(usage: "--follow is not from 0 to 20") }
        guard (1...RESTRequest.longest).contains(timeout) else {
            throw Failure(usage: "--timeout is not from 1 to \(RESTRequest.longest) seconds")
        }
        let headers = try headers()
        let body = try RestBodySource(data, field, context).body()
        let scopes = try scopeSet()
        do throws(RESTError) {
            return try RESTRequest(
                method, address, headers: headers, body: body, scopes: scopes, resource: resource, redirects: follow,
                seconds: timeout)
        } catch {
            guard error == .unusable else { throw Failure(error, of: nil, address: address) }
            throw Failure(usage: "the method is none of HTTP, or --resource is no address of at most 2048 printable characters")
        }
    }

    private func scopeSet() throws -> ScopeSet? {
        guard let scopes else { return nil }
        guard let set = ScopeSet(scopes.split { $0 == "," || $0 == " " }.map(String.init)), !set.isEmpty else {
            throw Failure(usage: "--scopes is not a list of 1 to 64 scopes with commas or blanks between them")
        }
        return set
    }

    private func headers() throws(Failure) -> [OnlineService.Header] {
        var headers: [OnlineService.Header] = []
        for text in header {
            guard let colon = text.firstIndex(of: ":") else { throw Failure(usage: "-H is not NAME: VALUE") }
            let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            headers.append(OnlineService.Header(String(text[..<colon]), String(value)))
        }
        if let contentType { headers.append(OnlineService.Header("Content-Type", contentType)) }
        if !field.isEmpty, contentType == nil {
            headers.append(OnlineService.Header("Content-Type", "application/x-www-form-urlencoded"))
        }
        guard headers.count(where: { $0.name.lowercased() == "content-type" }) < 2 else {
            throw Failure(usage: "the type of the body is given twice")
        }
        // The value can be a secret that was typed in the wrong place, so only the name is shown.
        for header in headers where !RESTRequest.isUsable(header) {
            throw Failure(
                .usage,
                "the header \"\(header.name)\" cannot be sent: it frames the request, or has a line break or another bad character",
                hint: "omvault sets the headers that say how long a request is")
        }
        if profile != nil, let own = headers.first(where: { RESTRequest.ofToken.contains($0.name.lowercased()) }) {
            throw Failure(
                .usage, "with --profile the header \"\(own.name)\" cannot be set: the agent sends the token",
                hint: "leave out --profile to send your own")
        }
        return headers
    }
}

/// A command asks no server for the tokens of gates.
private struct NoGateTokens: WebGateTokenSource {
    func token(for gate: WebGate, context: String) async throws(AuthError) -> SecretBytes { throw .noServer }
}
