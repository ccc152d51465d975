#if Server
// The endpoints of OAuth 2.0. docs/formats/server-protocol.md, "Grants".

internal import OMCrypto
internal import OMJSON
internal import OMSecrets
package import OMServerStore

package struct GrantService: ServerService {
    /// How long tokens are valid, in seconds.
    package static let accessTime: Int64 = 900
    package static let refreshTime: Int64 = 90 * 86_400

    private let store: any ServerStore
    private let passwords: PasswordCheck
    private let attempts: AttemptLimit
    private let clock: ServerClock
    private let issuer: String
    /// Each token is a row until it ends.
    private let issues = AttemptLimit(most: 120)

    /// - Parameter issuer: The server's own address, without a slash at its end.
    package init(
        _ store: any ServerStore, passwords: PasswordCheck, attempts: AttemptLimit, issuer: String, clock: ServerClock
    ) {
        (self.store, self.passwords, self.attempts) = (store, passwords, attempts)
        (self.issuer, self.clock) = (issuer, clock)
    }

    package func routes(_ path: [String]) -> [ServerRequest.Method: @Sendable (ServerRequest) throws -> ServerResponse] {
        switch path {
        case ["oauth2", "token"]: [.post: { try answered { try token($0) }($0) }]
        case ["oauth2", "revoke"]: [.post: { try answered { try revoke($0) }($0) }]
        case ["oauth2", "introspect"]: [.post: { try answered { try introspect($0) }($0) }]
        case [".well-known", "oauth-authorization-server"]: [.get: { _ in metadata() }]
        default: [:]
        }
    }

    // MARK: - Token

    private func token(_ request: ServerRequest) throws -> ServerResponse {
        let fields = try FormFields(of: request)
        switch try fields.text("grant_type") {
        case "password": return try passwordGrant(request, fields)
        case "refresh_token": return try refresh(request, fields)
        case "client_credentials": return try clientGrant(request, fields)
        case nil: throw OAuthError.invalidRequest
        default: throw OAuthError.unsupportedGrant
        }
    }

    private func passwordGrant(_ request: ServerRequest, _ fields: FormFields) throws -> ServerResponse {
        let client = try client(request, fields)
        guard let user = try fields.text("username"), let bytes = try fields.secret("password"),
            let password = try? Password(bytes)
        else { throw OAuthError.invalidRequest }
        let scopes = try scopes(fields, within: client.scopes)
        guard let device = DeviceText(try fields.text("device") ?? "UNKNOWN") else { throw OAuthError.invalidRequest }
        let now = clock.now()
        guard attempts.isAllowed(ClientNetwork.of(request.client), now: now) else { throw OAuthError.tooMany(retryAfter: 60) }
        // A text that is no name is a name that no account has.
        guard let name = AccountName(user) else { throw OAuthError.wrongPassword }
        let hash: String
        switch try passwords.check(name, password, in: store, now: now) {
        case .right(let compared): hash = compared
        case .wrong: throw OAuthError.wrongPassword
        case .blocked: throw OAuthError.blocked
        case .tooMany(let seconds): throw OAuthError.tooMany(retryAfter: seconds)
        }
        return try store.transaction(.write) { transaction in
            guard try AccountTable.mayGetTokens(name, hash: hash, transaction) else { throw OAuthError.wrongPassword }
            let grant = Grant(
                id: Random.bytes(16), account: name, client: client.id, scopes: scopes, device: device.text, created: now,
                used: now)
            try GrantTable.add(grant, transaction)
            return try issue(grant, refreshes: true, now: now, transaction)
        }
    }

    private func clientGrant(_ request: ServerRequest, _ fields: FormFields) throws -> ServerResponse {
        let client = try client(request, fields)
        guard client != .omvault else { throw OAuthError.unauthorizedClient }
        let scopes = try scopes(fields, within: client.scopes)
        let now = clock.now()
        return try store.transaction(.write) { transaction in
            let grant = Grant(
                id: Random.bytes(16), account: nil, client: client.id, scopes: scopes, device: "UNKNOWN", created: now,
                used: now)
            try GrantTable.add(grant, transaction)
            return try issue(grant, refreshes: false, now: now, transaction)
        }
    }

    private func refresh(_ request: ServerRequest, _ fields: FormFields) throws -> ServerResponse {
        let client = try client(request, fields)
        guard let digest = try fields.digest("refresh_token") else { throw OAuthError.invalidRequest }
        let asked = try fields.text("scope")
        let now = clock.now()
        let answer = try store.transaction(.write) { transaction -> ServerResponse? in
            guard let found = try GrantTable.token(digest, transaction) else { return nil }
            try GrantTable.lock(found.grant.id, transaction)
            // Another transaction may have used it before the lock.
            guard let token = try GrantTable.token(digest, transaction), token.kind == .refresh, token.expires > now,
                token.grant.client == client.id
            else { return nil }
            let grant = token.grant
            if token.state == .spent {
                // Attack: a thief copied the token. Either he or the owner comes with a spent one, and both are out.
                _ = try GrantTable.remove(grant.id, transaction)
                return nil
            }
            guard asked.map({ Scope.set($0)?.isSubset(of: grant.scopes) ?? false }) ?? true else {
                throw OAuthError.invalidScope
            }
            let last = try GrantTable.lastRound(of: grant.id, transaction)
            // The answer to an earlier refresh with this token got lost.
            try GrantTable.spend(after: token.round, of: grant.id, transaction)
            try GrantTable.spend(before: token.round, of: grant.id, transaction)
            try GrantTable.setReplaced(token.digest, transaction)
            try GrantTable.noteUse(grant.id, at: now, transaction)
            return try issue(grant, refreshes: true, round: last + 1, now: now, transaction)
        }
        guard let answer else { throw OAuthError.invalidGrant }
        return answer
    }

    /// Makes an access token of a grant, and a refresh token if it has some.
    private func issue(
        _ grant: Grant, refreshes: Bool, round: Int64 = 1, now: Int64, _ transaction: any StoreTransaction
    ) throws -> ServerResponse {
        guard issues.isAllowed(grant.account?.text ?? "client:\(grant.client)", now: now) else {
            throw OAuthError.tooMany(retryAfter: 60)
        }
        let access = TokenText.make(.access)
        try GrantTable.addToken(access, .access, of: grant.id, expires: now + Self.accessTime, round: round, transaction)
        var members: [String: JSON] = [
            "access_token": .string(access), "token_type": .string("Bearer"), "expires_in": .number(String(Self.accessTime)),
            "scope": .string(Scope.text(grant.scopes)),
        ]
        if refreshes {
            let refresh = TokenText.make(.refresh)
            try GrantTable.addToken(refresh, .refresh, of: grant.id, expires: now + Self.refreshTime, round: round, transaction)
            members["refresh_token"] = .string(refresh)
        }
        return ServerResponse(json: .object(members))
    }

    private func scopes(_ fields: FormFields, within most: Set<Scope>) throws -> Set<Scope> {
        guard let text = try fields.text("scope") else { return most.intersection([.profile]) }
        guard let scopes = Scope.set(text), scopes.isSubset(of: most) else { throw OAuthError.invalidScope }
        return scopes
    }

    // MARK: - Clients

    private func client(_ request: ServerRequest, _ fields: FormFields) throws -> Client {
        if let header = request.headers["authorization"] {
            guard let pair = BasicPair(header), try fields.digest("client_secret") == nil else {
                throw OAuthError.invalidClient
            }
            // The public client may send a header too, with an empty secret.
            if pair.name == Client.omvault.id, pair.secretDigest == nil { return .omvault }
            return try client(pair.name, pair.secretDigest)
        }
        guard let id = try fields.text("client_id") else { throw OAuthError.invalidClient }
        return id == Client.omvault.id ? .omvault : try client(id, try fields.digest("client_secret"))
    }

    private func client(_ id: String, _ secretDigest: [UInt8]?) throws -> Client {
        guard let secretDigest, Client.isID(id) else { throw OAuthError.invalidClient }
        let found = try store.transaction(.read) { try ClientTable.find(id, secretDigest: secretDigest, $0) }
        guard let found else { throw OAuthError.invalidClient }
        return found
    }

    // MARK: - Revocation and introspection

    private func revoke(_ request: ServerRequest) throws -> ServerResponse {
        let fields = try FormFields(of: request)
        let client = try client(request, fields)
        guard let digest = try fields.digest("token") else { throw OAuthError.invalidRequest }
        try store.transaction(.write) { transaction in
            guard let token = try GrantTable.token(digest, transaction), token.grant.client == client.id else { return }
            switch token.kind {
            case .refresh: _ = try GrantTable.remove(token.grant.id, transaction)
            case .access: try GrantTable.removeToken(token.digest, transaction)
            }
        }
        // RFC 7009: an unknown token is no error.
        return ServerResponse(200)
    }

    private func introspect(_ request: ServerRequest) throws -> ServerResponse {
        let fields = try FormFields(of: request)
        let client = try client(request, fields)
        guard client != .omvault else { throw OAuthError.invalidClient }
        guard let digest = try fields.digest("token") else { throw OAuthError.invalidRequest }
        let now = clock.now()
        let token = try store.transaction(.read) { try GrantTable.token(digest, $0) }
        guard let token, token.expires > now, token.state != .spent else {
            return ServerResponse(json: .object(["active": .bool(false)]))
        }
        var members: [String: JSON] = [
            "active": .bool(true), "scope": .string(Scope.text(token.grant.scopes)), "client_id": .string(token.grant.client),
            "exp": .number(String(token.expires)), "iss": .string(issuer),
        ]
        if let account = token.grant.account {
            members["username"] = .string(account.text)
            members["sub"] = .string(account.text)
        }
        if token.kind == .access { members["token_type"] = .string("Bearer") }
        return ServerResponse(json: .object(members))
    }

    // MARK: - Metadata

    private func metadata() -> ServerResponse {
        let methods: JSON = .array([.string("client_secret_basic"), .string("client_secret_post"), .string("none")])
        return ServerResponse(
            json: .object([
                "issuer": .string(issuer), "token_endpoint": .string("\(issuer)/oauth2/token"),
                "revocation_endpoint": .string("\(issuer)/oauth2/revoke"),
                "introspection_endpoint": .string("\(issuer)/oauth2/introspect"),
                "grant_types_supported": .array(["password", "refresh_token", "client_credentials"].map { .string($0) }),
                "response_types_supported": .array([]),
                "scopes_supported": .array(Scope.allCases.map { .string($0.rawValue) }),
                "token_endpoint_auth_methods_supported": methods, "revocation_endpoint_auth_methods_supported": methods,
                "introspection_endpoint_auth_methods_supported": .array([
                    .string("client_secret_basic"), .string("client_secret_post"),
                ]),
            ]))
    }

    /// Turns the errors of OAuth into answers.
    private func answered(
        _ body: @escaping @Sendable (ServerRequest) throws -> ServerResponse
    ) -> @Sendable (ServerRequest) throws -> ServerResponse {
        { request in
            do { return try body(request) } catch let error as OAuthError { return error.response } catch let problem
                as ServerProblem
            {
                guard problem == .malformed else { throw problem }
                return OAuthError.invalidRequest.response
            }
        }
    }
}
#endif
