// Logins at the Mobile and Social service (`OAMMSAuthentication`), and the use of their tokens. docs/reference/online.md,
// "Mobile and Social".

internal import AsyncHTTPClient
internal import NIOHTTP1
public import OMOnlineModel
public import OMSecrets

public struct OAMMSProvider: Sendable {
    /// The end of a login, or a question on the way.
    public enum Reply: ~Copyable, Sendable {
        case granted(OnlineGrant)
        /// The server asks the user these questions. ``OAMMSProvider/answer(_:to:user:password:)`` continues the login.
        case asked([String], state: SecretBytes)
    }

    private static let maximumAnswer = 256 << 10
    private static let domainHeader = "X-IDAAS-SERVICEDOMAIN"

    private let service: OnlineService
    private let oamms: OAMMSService
    private let device: DeviceClaims

    public init(_ service: OnlineService, _ oamms: OAMMSService) { self.init(service, oamms, device: .own) }

    init(_ service: OnlineService, _ oamms: OAMMSService, device: DeviceClaims) {
        (self.service, self.oamms, self.device) = (service, oamms, device)
    }

    /// The server's settings for the application, without a login.
    ///
    /// - Throws: ``OnlineFailure/unsafeAddress`` unless the server is asked by https, and every other refusal of a
    ///   request to a server.
    public func applicationProfile() async throws(OnlineRefusal) -> ServerProfile {
        guard try OAMMSSetup.base(oamms).isSecure else { throw .failed(.unsafeAddress) }
        switch try await setUp(HTTPExchange(service)).policy {
        case .given(let profile): return profile
        case .missing(let refusal): throw refusal
        case .notAsked: throw .failed(.unsafeAddress)
        }
    }

    /// The endpoints that the application profile names, without a login. Empty if it names none.
    ///
    /// - Throws: Every refusal of a request to a server.
    func endpoints() async throws(OnlineRefusal) -> [ServerEndpoint] { try await setUp(HTTPExchange(service)).named }

    /// Registers this application, if the service wants that, and asks for a user's token.
    ///
    /// - Parameter password: Sent byte for byte. It must be UTF-8, since it travels in JSON.
    public func logIn(_ user: String, password: borrowing SecretBytes) async throws(OnlineRefusal) -> Reply {
        try await logIn(user, password: password, waiting: nil, answers: SecretBytes(copying: []))
    }

    /// Continues a login with the user's answers.
    ///
    /// - Parameters:
    ///   - state: Of ``Reply/asked(_:state:)``.
    ///   - answers: One for each question, each followed by a line feed.
    public func answer(
        _ answers: borrowing SecretBytes, to state: borrowing SecretBytes, user: String, password: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> Reply {
        try await logIn(user, password: password, waiting: try WaitingLogin(state), answers: answers)
    }

    /// Asks the server whether the session's token is still valid. Only the status of the answer counts.
    ///
    /// - Throws: ``OnlineRefusal/rejected`` if it is not.
    public func check(_ session: borrowing SecretBytes) async throws(OnlineRefusal) -> OnlineGrant {
        let tokens = try tokens(session)
        let (answer, address) = try await ask(about: tokens.user, .GET, tokens.validate, handle: nil)
        guard answer.status != 401, answer.status != 403 else { throw .rejected }
        guard answer.isSuccess else { throw OAMMSAnswer.refusal(answer) }
        return OnlineGrant(serverTime: address.isSecure ? answer.date : nil)
    }

    /// Tells the server to delete the session's token.
    ///
    /// - Throws: ``OnlineFailure/noLogout`` if the application profile had no address for that.
    public func logOut(_ session: borrowing SecretBytes) async throws(OnlineRefusal) -> OnlineGrant {
        let tokens = try tokens(session)
        guard let delete = tokens.delete else { throw .failed(.noLogout) }
        let (answer, _) = try await ask(about: tokens.user, .DELETE, delete, handle: tokens.handle)
        guard answer.isSuccess else { throw OAMMSAnswer.refusal(answer) }
        return OnlineGrant()
    }

    /// Gets a token for a resource that a gate protects. A request to the resource carries it as `Authorization: OAM-Auth`.
    ///
    /// - Parameter resource: The whole address of the resource.
    /// - Throws: ``OnlineFailure/handleRefused`` if the server no longer knows the registration: log in again.
    ///   ``OnlineRefusal/rejected`` if the session's token is no longer valid.
    public func accessToken(
        _ session: borrowing SecretBytes, for challenge: GateChallenge, resource: String
    ) async throws(OnlineRefusal) -> SecretBytes {
        let tokens = try tokens(session)
        guard let access = tokens.access else { throw .failed(.noService) }
        let address = try ownAddress(access)
        var body = JSONBody()
        body.add(OAMMSAnswer.prefix + "Subject-Type", "TOKEN")
        body.add(OAMMSAnswer.prefix + "Subject-Value", tokens.user)
        body.add(OAMMSAnswer.prefix + "Application-Context", challenge.context)
        body.add(OAMMSAnswer.prefix + "Application-Resource", resource)
        body.add(OAMMSAnswer.prefix + "New-Token-Type-To-Create", "ACCESSTOKEN")
        let answer = try await post(body, to: address, handle: tokens.handle, nil, HTTPExchange(service))
        let proofs = OAMMSAnswer.Proofs(hasPassword: false, hasHandle: tokens.handle != nil)
        switch try OAMMSAnswer(answer, "ACCESSTOKEN", proofs) {
        case .token(let token): return SecretBytes(copying: Array(token.utf8))
        case .handleRefused: throw .failed(.handleRefused, status: 401)
        case .asked: throw .failed(.challenge, status: UInt16(answer.status))
        }
    }

    // MARK: - The login

    private func logIn(
        _ user: String, password: borrowing SecretBytes, waiting: WaitingLogin?, answers: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> Reply {
        let name = try QualifiedUserName(user, service.domain)
        // Attack: a directory behind the service takes an empty password for an anonymous user, and says yes.
        guard password.count > 0, JSONBody.canCarry(password) else { throw .failed(.unusablePassword) }
        let exchange = try HTTPExchange(service)
        // Whether the server has it.
        var hasPassword = waiting != nil
        let setup: OAMMSSetup
        do throws(OnlineRefusal) { setup = try await setUp(exchange) } catch {
            throw hasPassword ? error.afterPassword() : error
        }
        var (handle, challenge, registrations) = (waiting?.handle, waiting?.challenge, waiting?.handle == nil ? 0 : 1)
        while true {
            let isRegistering = setup.register != nil && handle == nil
            let type = isRegistering ? "CLIENTREGHANDLE" : "USERTOKEN"
            var body = JSONBody()
            body.add(OAMMSAnswer.prefix + "Subject-Type", "USERCREDENTIAL")
            body.add(OAMMSAnswer.prefix + "Subject-Username", name.text)
            try body.add(OAMMSAnswer.prefix + "Subject-Password", password)
            body.add(OAMMSAnswer.prefix + "New-Token-Type-To-Create", type)
            if setup.register != nil {
                body.add("clientId", oamms.application)
                body.add("deviceProfile", json: device.profile(setup.claims))
            }
            if let challenge { body.add("challenge", json: try challenge.reply(answers)) }
            let proofs = OAMMSAnswer.Proofs(hasHandle: handle != nil, hasAnswers: challenge != nil)
            challenge = nil
            let address = (isRegistering ? setup.register : nil) ?? setup.authenticate
            let answer: HTTPResponse
            do throws(OnlineRefusal) {
                answer = try await post(body, to: address, handle: handle, name.header, exchange)
            } catch { throw hasPassword ? error.afterPassword() : error }
            hasPassword = true
            switch try OAMMSAnswer(answer, type, proofs) {
            case .token(let token) where isRegistering:
                registrations += 1
                handle = token
            case .token(let token):
                let tokens = ServerSession.OAMMSTokens(
                    user: token, handle: handle, access: setup.access?.text, validate: setup.validate.text,
                    delete: setup.delete?.text)
                return .granted(
                    OnlineGrant(
                        session: try ServerSession.oamms(tokens).sealable(),
                        serverTime: address.isSecure ? answer.date : nil, profile: setup.policy))
            case .asked(let challenge):
                return .asked(
                    challenge.questions.map(\.text),
                    state: try WaitingLogin(handle: handle, challenge: challenge).sealable())
            case .handleRefused:
                // The registration has just accepted this password. Another one would be refused like this one.
                guard registrations < 2 else { throw .failed(.handleRefused, status: 401) }
                handle = nil
            }
        }
    }

    private func setUp(_ exchange: HTTPExchange) async throws(OnlineRefusal) -> OAMMSSetup {
        try await OAMMSSetup.fetch(oamms, device, sending: try CustomHeaders(service.headers).fields, exchange)
    }

    // MARK: - Requests

    /// Redirects are not followed: 307 and 308 would send the password on.
    private func post(
        _ body: consuming JSONBody, to address: EndpointURL, handle: String?, _ domain: OnlineService.Header?,
        _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> HTTPResponse {
        var request = try request(.POST, address.text, handle: handle, domain)
        request.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
        request.body = .bytes(body.finish())
        return try await exchange.fetch(request, limit: Self.maximumAnswer, readsErrors: true)
    }

    /// A request whose query names a token.
    private func ask(
        about token: String, _ method: HTTPMethod, _ text: String, handle: String?
    ) async throws(OnlineRefusal) -> (HTTPResponse, EndpointURL) {
        let address = try ownAddress(text)
        let end = address.text.hasSuffix("?") ? "" : address.text.contains("?") ? "&" : "?"
        let query = "\(OAMMSAnswer.prefix)Subject-Value=\(OAMMSSetup.escaped(token))&\(OAMMSAnswer.prefix)Subject-Type=TOKEN"
        let domain = service.domain.flatMap { domain in domain.header.map { OnlineService.Header($0, domain.name) } }
        let request = try request(method, address.text + end + query, handle: handle, domain)
        return (try await HTTPExchange(service).fetch(request, limit: Self.maximumAnswer, readsErrors: false), address)
    }

    /// - Parameter handle: The registration handle. It goes along as the application's password.
    private func request(
        _ method: HTTPMethod, _ text: String, handle: String?, _ domain: OnlineService.Header?
    ) throws(OnlineRefusal) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: text)
        request.method = method
        for header in try CustomHeaders(service.headers).fields + (domain.map { [$0] } ?? []) {
            guard CustomHeaders.isUsable(header) else { throw .failed(.unusableHeaders) }
            request.headers.add(name: header.name, value: header.value)
        }
        let serviceDomain = OnlineService.Header(Self.domainHeader, oamms.serviceDomain)
        guard CustomHeaders.isUsable(serviceDomain) else { throw .failed(.unusableHeaders) }
        request.headers.replaceOrAdd(name: serviceDomain.name, value: serviceDomain.value)
        if let handle {
            let pair = Base64.encode(Array("\(oamms.application):\(handle)".utf8))
            let name = OAMMSAnswer.prefix + "Authorization"
            request.headers.replaceOrAdd(name: name, value: "UIDPASSWORD cred=\"\(pair)\"")
        }
        if !request.headers.contains(name: "Accept") { request.headers.add(name: "Accept", value: "application/json") }
        return request
    }

    /// Attack: a session of another server is handed over, with its addresses. A token goes only to the profile's server.
    private func ownAddress(_ text: String) throws(OnlineRefusal) -> EndpointURL {
        guard let address = OAMMSSetup.own(text, try OAMMSSetup.base(oamms)) else { throw .failed(.unusableSession) }
        return address
    }

    private func tokens(_ session: borrowing SecretBytes) throws(OnlineRefusal) -> ServerSession.OAMMSTokens {
        guard case .oamms(let tokens) = try ServerSession(session) else { throw .failed(.unusableSession) }
        return tokens
    }
}
