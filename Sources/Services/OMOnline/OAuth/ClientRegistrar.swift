// The registration of a client at an OAuth server (RFC 7591), and its management (RFC 7592). docs/reference/online.md, "OAuth".

internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOHTTP1
internal import OMJSON
public import OMOnlineModel
public import OMSecrets

public struct ClientRegistrar: Sendable {
    private static let maximumAnswer = 64 << 10

    private let service: OnlineService
    private let oauth: OAuthService

    public init(_ service: OnlineService, _ oauth: OAuthService) { (self.service, self.oauth) = (service, oauth) }

    /// Takes one step of a registration.
    ///
    /// - Parameters:
    ///   - token: The initial access token of ``ClientStep/register(_:at:)``, which may be empty. Of every other step the token of
    ///     the registration.
    ///   - statement: A software statement for the registration, or empty.
    /// - Returns: ``OnlineGrant/client``; as the session the registration's token, and as the access token the client's secret, if
    ///   the server gave them. Nothing for ``ClientStep/remove(at:)``.
    /// - Throws: ``OnlineFailure/noRegistration``, ``OnlineFailure/registrationRefused``, ``OnlineFailure/redirectRefused``,
    ///   ``OnlineFailure/foreignEndpoint``, ``OnlineFailure/unexpectedAnswer``; ``OnlineRefusal/rejected`` for a wrong token.
    public func ask(
        _ step: ClientStep, token: borrowing SecretBytes, statement: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let exchange = try HTTPExchange(service)
        let (address, methods) = try await address(of: step, exchange)
        var request = HTTPClientRequest(url: address.text)
        for header in try CustomHeaders(service.headers).fields { request.headers.add(name: header.name, value: header.value) }
        request.headers.replaceOrAdd(name: "Accept", value: "application/json")
        if token.count > 0 { request.headers.add(name: "Authorization", value: try Self.bearer(token)) }
        let sent = methods.contains("none") ? "none" : "client_secret_basic"
        switch step {
        case .register(let metadata, _):
            request.method = .POST
            try Self.add(metadata, proof: metadata.proof ?? sent, id: nil, statement: statement, to: &request)
        case .read: request.method = .GET
        case .update(let metadata, let id, _):
            request.method = .PUT
            try Self.add(metadata, proof: metadata.proof, id: id, statement: statement, to: &request)
        case .remove: request.method = .DELETE
        }
        let answer = try await exchange.fetch(request, limit: Self.maximumAnswer, readsErrors: true)
        guard answer.isSuccess else { throw Self.refusal(answer) }
        switch step {
        case .register(let metadata, _): return try grant(answer, at: address, asked: metadata.proof ?? sent, isNew: true)
        case .read: return try grant(answer, at: address, asked: nil, isNew: false)
        case .update(let metadata, _, _): return try grant(answer, at: address, asked: metadata.proof, isNew: false)
        case .remove: return OnlineGrant()
        }
    }

    // MARK: - The request

    /// The address, and the ways in which clients prove themselves there, if a document says so.
    private func address(
        of step: ClientStep, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> (EndpointURL, methods: [String]) {
        if let text = step.address {
            let address = try EndpointURL(text)
            guard oauth.allows(address) else { throw .failed(.foreignEndpoint) }
            return (address, [])
        }
        guard let document = try await DiscoveryDocument.find(oauth, exchange) else { throw .failed(.noRegistration) }
        guard let address = try document.endpoint(.clientRegistration) else { throw .failed(.noRegistration) }
        return (address, try document.list("token_endpoint_auth_methods_supported") ?? [])
    }

    private static func bearer(_ token: borrowing SecretBytes) throws(OnlineRefusal) -> String {
        let text = token.withBytes { token in String(decoding: token.indices.map { token[$0] }, as: UTF8.self) }
        // Attack: the token ends the header's line and begins another one.
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .failed(.unusableSession) }
        return "Bearer \(text)"
    }

    /// Only inline values: no address that the server would fetch (RFC 7591, section 5).
    private static func add(
        _ metadata: ClientMetadata, proof: String?, id: String?, statement: borrowing SecretBytes,
        to request: inout HTTPClientRequest
    ) throws(OnlineRefusal) {
        func list(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
        var members: [String: JSON] = [
            "application_type": .string("native"), "grant_types": list(metadata.grants),
        ]
        if let proof { members["token_endpoint_auth_method"] = .string(proof) }
        if let name = metadata.name { members["client_name"] = .string(name) }
        if !metadata.redirects.isEmpty {
            members["redirect_uris"] = list(metadata.redirects)
            // The types that a login by the implicit grant asks for, with `openid` and without it.
            members["response_types"] = list(metadata.grants.contains("implicit") ? ["id_token token", "token"] : ["code"])
        }
        if !metadata.scopes.isEmpty { members["scope"] = .string(metadata.scopes.joined(separator: " ")) }
        if let id { members["client_id"] = .string(id) }
        // The public half of the client's key, and never an address of it.
        if let key = metadata.publicKey {
            guard let key = try? JSON(parsing: key.utf8.span) else { throw .failed(.unusableClientKey) }
            members["jwks"] = .object(["keys": .array([key])])
        }
        if statement.count > 0 {
            let text = statement.withBytes { text in String(decoding: text.indices.map { text[$0] }, as: UTF8.self) }
            guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .failed(.unusableSession) }
            members["software_statement"] = .string(text)
        }
        request.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
        request.body = .bytes(Array(JSON.object(members).serialized.utf8))
    }

    // MARK: - The answer

    private static func refusal(_ answer: HTTPResponse) -> OnlineRefusal {
        let status = UInt16(answer.status)
        switch JSON(answer: answer.body)?.members?["error"]?.text {
        case "invalid_redirect_uri"?: return .failed(.redirectRefused, status: status)
        case "invalid_client_metadata"?, "invalid_software_statement"?, "unapproved_software_statement"?:
            return .failed(.registrationRefused, status: status)
        case "invalid_token"?: return .rejected
        default: break
        }
        return answer.status == 400 ? .failed(.registrationRefused, status: status) : HTTPExchange.refusal(answer)
    }

    /// - Parameters:
    ///   - proof: What was asked for. A server that does not repeat it keeps it.
    ///   - isNew: Whether the client was registered just now.
    private func grant(
        _ answer: HTTPResponse, at address: EndpointURL, asked proof: String?, isNew: Bool
    ) throws(OnlineRefusal) -> OnlineGrant {
        guard let members = JSON(answer: answer.body)?.members, let id = members["client_id"]?.text, Self.isShowable(id)
        else { throw .failed(.unexpectedAnswer) }
        // Attack: the token of the registration would be sent to another server. The client is registered in any case, so it is kept
        // without what manages it.
        let managed = members["registration_client_uri"]?.text.flatMap { text -> String? in
            guard let managed = try? EndpointURL(text), managed.hasOrigin(of: address), text.utf8.count <= ClientMetadata.longest
            else { return nil }
            return text
        }
        let secret = try Self.secret(members["client_secret"])
        let token = isNew && managed == nil ? nil : try Self.secret(members["registration_access_token"], isToken: true)
        return OnlineGrant(
            session: token, access: secret,
            client: ClientRegistration(
                id: id, secretExpiry: Self.time(members["client_secret_expires_at"]), address: managed,
                metadata: try Self.metadata(members, asked: proof)))
    }

    /// - Parameter isToken: Whether it goes into a header, where no blank is allowed.
    private static func secret(_ value: JSON?, isToken: Bool = false) throws(OnlineRefusal) -> SecretBytes? {
        guard let text = value?.text, !text.isEmpty else { return nil }
        let first: UInt8 = isToken ? 0x21 : 0x20
        guard text.utf8.count <= 4096, text.utf8.allSatisfy({ (first...0x7E).contains($0) }) else {
            throw .failed(.unexpectedAnswer)
        }
        return SecretBytes(copying: Array(text.utf8))
    }

    /// 0 is "never".
    private static func time(_ value: JSON?) -> Int64? {
        guard case .number(let digits)? = value, let seconds = Double(digits), seconds >= 1, seconds <= 0x1p53 else { return nil }
        return Int64(seconds)
    }

    private static func metadata(_ members: [String: JSON], asked: String?) throws(OnlineRefusal) -> ClientMetadata {
        func list(_ name: String) throws(OnlineRefusal) -> [String] {
            let texts = members[name].map { $0.texts ?? $0.text.map { [$0] } ?? [] } ?? []
            guard texts.count <= ClientMetadata.mostEntries, texts.allSatisfy(isShowable) else {
                throw .failed(.unexpectedAnswer)
            }
            return texts
        }
        let scopes = members["scope"]?.text?.split(separator: " ").map(String.init) ?? []
        let name = members["client_name"]?.text
        guard scopes.count <= ClientMetadata.mostEntries, scopes.allSatisfy(isShowable), name.map(isShowable) ?? true else {
            throw .failed(.unexpectedAnswer)
        }
        // Servers have been seen to answer with a list of one.
        let proof = try list("token_endpoint_auth_method").first ?? asked ?? "client_secret_basic"
        return ClientMetadata(
            name: name, redirects: try list("redirect_uris"), grants: try list("grant_types"), proof: proof, scopes: scopes)
    }

    private static func isShowable(_ text: String) -> Bool {
        (1...ClientMetadata.longest).contains(text.utf8.count) && ShowableText.isOneLine(text)
    }
}
