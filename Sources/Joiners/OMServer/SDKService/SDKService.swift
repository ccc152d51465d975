#if Server
// The service of Oracle's SDK. docs/formats/server-protocol.md, "The SDK's service", says what is a fact and what is our choice.

internal import OMJSON
internal import OMSecrets
package import OMServerStore

package struct SDKService: ServerService {
    /// How long tokens are valid, in seconds.
    static let userTime: Int64 = 8 * 3600
    static let accessTime: Int64 = 900
    static let handleTime: Int64 = 365 * 86_400
    /// How many handles of an account and an application are valid at once.
    static let mostHandles: Int64 = 64
    private static let path = "/oic_rest/rest/mobileoamauthentication"

    /// The endpoints that servers have by default, and whether each wants a registration.
    private static let services = [
        "jwtauthentication": false, "oamauthentication": false, "jwtoamauthentication": false,
        "mobileoamauthentication": true, "mobilejwtauthentication": true,
    ]

    private let store: any ServerStore
    private let passwords: PasswordCheck
    private let attempts: AttemptLimit
    private let clock: ServerClock
    /// Each token is a row until it ends.
    private let issues = AttemptLimit(most: 120)

    package init(_ store: any ServerStore, passwords: PasswordCheck, attempts: AttemptLimit, clock: ServerClock) {
        (self.store, self.passwords, self.attempts, self.clock) = (store, passwords, attempts, clock)
    }

    package func routes(_ path: [String]) -> [ServerRequest.Method: @Sendable (ServerRequest) throws -> ServerResponse] {
        guard path.count > 2, ["oic_rest", "idaas_rest"].contains(path[0]), path[1] == "rest" else { return [:] }
        let rest = Array(path[2...])
        let methods = operations(rest)
        // Each method has an answer here: the errors of this service have a form of their own.
        var routes: [ServerRequest.Method: @Sendable (ServerRequest) throws -> ServerResponse] = [:]
        for method in [ServerRequest.Method.get, .head, .put, .post, .delete] {
            routes[method] = { request in
                do {
                    guard !methods.isEmpty else { throw SDKProblem.noService }
                    guard let operation = methods[method] else { throw SDKProblem.notAllowed(Array(methods.keys)) }
                    return try operation(request)
                } catch let problem as SDKProblem { return problem.response }
            }
        }
        return routes
    }

    private typealias Operation = @Sendable (ServerRequest) throws -> ServerResponse

    private func operations(_ path: [String]) -> [ServerRequest.Method: Operation] {
        if path.count == 2, path[0] == "AppProfiles" { return [.get: { _ in try profile(path[1]) }] }
        guard let isMobile = Self.services[path[0]] else { return [:] }
        let isOAM = path[0].contains("oam")
        switch Array(path[1...]) {
        case ["authenticate"]: return [.post: { try authenticate($0, isMobile: isMobile, isOAM: isOAM) }]
        case ["register"] where isMobile: return [.post: { try register($0) }]
        case ["access"]: return [.post: { try access($0, isMobile: isMobile, isOAM: isOAM) }]
        case ["validate"], ["tokens", "info"]: return [.get: { try validate($0) }]
        case ["delete"]: return [.delete: { try delete($0) }]
        default: return [:]
        }
    }

    // MARK: - Logins

    private func register(_ request: ServerRequest) throws -> ServerResponse {
        let body = try SDKBody(of: request)
        guard body.text("New-Token-Type-To-Create") == "CLIENTREGHANDLE", let application = body.client,
            PolicyKey.isApplication(application)
        else {
            throw SDKProblem.malformed
        }
        let (account, hash) = try user(request, body)
        guard try store.transaction(.read, { try PolicyTable.find(application, $0) }) != nil else {
            throw SDKProblem.noApplication
        }
        try QuestionCheck(store: store, passwords: passwords).check(account, body, now: clock.now())
        let asked = TokenRequest(account: account, application: application, domain: Self.domain(of: request), hash: hash)
        return try issue(.handle, asked, isOAM: false)
    }

    private func authenticate(_ request: ServerRequest, isMobile: Bool, isOAM: Bool) throws -> ServerResponse {
        let body = try SDKBody(of: request)
        guard let type = body.text("New-Token-Type-To-Create"),
            ["USERTOKEN", "USERTOKEN::JWTUT", "USERTOKEN::OAMUT"].contains(type)
        else { throw SDKProblem.malformed }
        // A token is exchanged for another one of its user.
        if body.text("Subject-Type") == "TOKEN" {
            guard let digest = body.tokenDigest(), let token = try token(digest, .user) else { throw SDKProblem.token }
            return try issue(.user, TokenRequest(token, digest), isOAM: isOAM)
        }
        // The password comes first: a stranger learns nothing about handles.
        let (account, hash) = try user(request, body)
        guard isMobile else {
            try QuestionCheck(store: store, passwords: passwords).check(account, body, now: clock.now())
            let asked = TokenRequest(account: account, application: "", domain: Self.domain(of: request), hash: hash)
            return try issue(.user, asked, isOAM: isOAM)
        }
        let (digest, handle) = try handle(of: request)
        guard handle.account == account, body.client == nil || body.client == handle.application else {
            throw SDKProblem.registration
        }
        let asked = TokenRequest(
            account: account, application: handle.application, domain: handle.domain, hash: hash, parent: digest)
        return try issue(.user, asked, isOAM: isOAM)
    }

    /// The user whose name and password the body has, and the hash that the password was compared with.
    private func user(_ request: ServerRequest, _ body: SDKBody) throws -> (AccountName, hash: String) {
        guard body.text("Subject-Type") == "USERCREDENTIAL", let text = body.text("Subject-Username"),
            let password = body.password()
        else { throw SDKProblem.authentication }
        let now = clock.now()
        guard attempts.isAllowed(ClientNetwork.of(request.client), now: now) else { throw SDKProblem.tooMany(retryAfter: 60) }
        guard let name = AccountName(text) else { throw SDKProblem.authentication }
        switch try passwords.check(name, password, in: store, now: now) {
        case .right(let hash): return (name, hash)
        case .wrong: throw SDKProblem.authentication
        case .blocked: throw SDKProblem.blocked
        case .tooMany(let seconds): throw SDKProblem.tooMany(retryAfter: seconds)
        }
    }

    // MARK: - Tokens

    private func access(_ request: ServerRequest, isMobile: Bool, isOAM: Bool) throws -> ServerResponse {
        let body = try SDKBody(of: request)
        guard body.text("New-Token-Type-To-Create") == "ACCESSTOKEN", body.text("Subject-Type") == "TOKEN",
            let digest = body.tokenDigest(), body.text("Application-Context") != nil,
            body.text("Application-Resource") != nil
        else { throw SDKProblem.malformed }
        guard let token = try token(digest, .user) else { throw SDKProblem.token }
        if isMobile {
            let (_, handle) = try handle(of: request)
            guard handle.account == token.account, handle.application == token.application else { throw SDKProblem.registration }
        }
        return try issue(.access, TokenRequest(token, digest), isOAM: isOAM)
    }

    private func validate(_ request: ServerRequest) throws -> ServerResponse {
        guard request.value("X-Idaas-Rest-Subject-Type") == "TOKEN", let text = request.value("X-Idaas-Rest-Subject-Value") else {
            throw SDKProblem.malformed
        }
        // The HTTP library gives the query as a text, and the answer repeats the token.
        let now = clock.now(), digest = TokenText.digest(text)
        guard let token = try store.transaction(.read, { try SDKTokenTable.find(digest, now: now, $0) }), token.kind != .handle
        else {
            throw SDKProblem.token
        }
        return ServerResponse(
            json: .object([
                "X-Idaas-Rest-Token-Type": .string(token.kind.name), "X-Idaas-Rest-Token-Value": .string(text),
                "expires": .number(String(token.expires)),
            ]))
    }

    private func delete(_ request: ServerRequest) throws -> ServerResponse {
        guard request.value("X-Idaas-Rest-Subject-Type") == "TOKEN", let text = request.value("X-Idaas-Rest-Subject-Value") else {
            throw SDKProblem.malformed
        }
        // A client that has the token may end it. An unknown token is no error: it has ended.
        let digest = TokenText.digest(text)
        try store.transaction(.write) { try SDKTokenTable.remove(digest, $0) }
        return ServerResponse(204)
    }

    private func token(_ digest: [UInt8], _ kind: SDKToken.Kind) throws -> SDKToken? {
        let now = clock.now()
        let found = try store.transaction(.read) { try SDKTokenTable.find(digest, now: now, $0) }
        return found?.kind == kind ? found : nil
    }

    /// The handle of the request, and its digest.
    private func handle(of request: ServerRequest) throws -> ([UInt8], SDKToken) {
        guard let header = HandleHeader(request.headers["x-idaas-rest-authorization"] ?? ""),
            let handle = try token(header.digest, .handle), handle.application == header.application,
            handle.domain == Self.domain(of: request)
        else { throw SDKProblem.registration }
        return (header.digest, handle)
    }

    private func issue(_ kind: SDKToken.Kind, _ asked: TokenRequest, isOAM: Bool) throws -> ServerResponse {
        let text = TokenText.make(.access), now = clock.now(), account = asked.account
        guard issues.isAllowed(account.text, now: now) else { throw SDKProblem.tooMany(retryAfter: 60) }
        let time =
            switch kind {
            case .handle: Self.handleTime
            case .user: Self.userTime
            case .access: Self.accessTime
            }
        let token = SDKToken(
            kind: kind, account: account, application: asked.application, domain: asked.domain,
            expires: min(now + time, asked.end))
        try store.transaction(.write) { transaction in
            guard try AccountTable.mayGetTokens(account, hash: asked.hash, transaction) else { throw SDKProblem.authentication }
            // Attack: a user logs out after the token of a request was found. A token that is issued after that would stay valid.
            if let parent = asked.parent, try SDKTokenTable.find(parent, now: now, transaction) == nil {
                throw asked.hash == nil ? SDKProblem.token : SDKProblem.registration
            }
            try SDKTokenTable.add(text, token, parent: asked.parent, transaction)
            if kind == .handle {
                try SDKTokenTable.keepNewest(Self.mostHandles, handlesOf: account, asked.application, transaction)
            }
        }
        var members: [String: JSON] = [
            "X-Idaas-Rest-Token-Type": .string(kind.name), "X-Idaas-Rest-Token-Value": .string(text),
        ]
        if isOAM {
            members["X-Idaas-Rest-Provider-Type"] = .string("OAM_11G")
            members["X-Idaas-Rest-User-Principal"] = .string(account.text)
        }
        return ServerResponse(json: .object(members))
    }

    private static func domain(of request: ServerRequest) -> String { request.headers["x-idaas-servicedomain"] ?? "" }

    // MARK: - The application profile

    private func profile(_ application: String) throws -> ServerResponse {
        guard PolicyKey.isApplication(application),
            let policy = try store.transaction(.read, { try PolicyTable.find(application, $0) })
        else { throw SDKProblem.noApplication }
        var members: [String: JSON] = [
            "name": .string(application), "epoch": .number(String(policy.epoch)),
            "authenticationScheme": .string("USERCREDENTIAL"), "mobileAppConfig": .object(["claimAttributes": .array([])]),
            "services": .object([
                "register": .string("\(Self.path)/register"), "authenticate": .string("\(Self.path)/authenticate"),
                "access": .string("\(Self.path)/access"), "delete": .string("\(Self.path)/delete"),
                "validate": .string("/oic_rest/rest/jwtoamauthentication/tokens/info"),
            ]),
        ]
        if let allowed = policy.values["OfflineAuthAllowed"] { members["offlineAuthAllowed"] = .bool(allowed == "true") }
        if let most = policy.values["MaxLoginAttempts"] { members["maxLoginAttempts"] = .number(most) }
        let custom = policy.values.filter { ["CryptoScheme", "LocationUpdateEnabled"].contains($0.key) }
        if !custom.isEmpty { members["customAttributes"] = .object(custom.mapValues { .string($0) }) }
        return ServerResponse(json: .object(members))
    }
}
#endif
