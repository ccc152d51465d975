// The service of a question, as bytes. Format: docs/formats/online-protocol.md, "Question".

internal import OMAgentProtocol
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets

extension OnlineService {
    /// Whether each text fits its two bytes of length, and each list its limit.
    var fitsWire: Bool {
        var texts =
            headers.flatMap { [$0.name, $0.value] } + [domain?.name, domain?.header, profile].compactMap(\.self)
        var lists = [headers.count]
        switch kind {
        case .basic(let basic), .certificate(let basic):
            texts += [basic.login, basic.logout].compactMap(\.self) + basic.requiredTokens
            lists.append(basic.requiredTokens.count)
        case .oauth(let oauth):
            texts += oauth.scopes + oauth.origins + [oauth.clientID, oauth.issuer].compactMap(\.self)
            texts += (oauth.browser?.texts ?? []) + oauth.proof.texts
            texts += [oauth.tokenEndpoints.introspection, oauth.tokenEndpoints.userInfo].compactMap(\.self)
            lists += [oauth.scopes.count, oauth.origins.count, oauth.proof.endpoints.count]
            switch oauth.endpoint {
            case .discovery(let text), .configuration(let text): texts.append(text)
            case .token(let token, let revocation): texts += [token, revocation].compactMap(\.self)
            case .pages(let revocation): texts += [revocation].compactMap(\.self)
            }
        case .oamms(let oamms): texts += [oamms.server, oamms.serviceDomain, oamms.application]
        }
        if let chain { texts.append(chain.identity) }
        return texts.allSatisfy { $0.utf8.count <= UInt16.max } && lists.allSatisfy { $0 <= OnlineQuestion.maximumListEntries }
            && trusted?.count ?? 0 <= OnlineQuestion.maximumTrustedBytes
    }
}

extension SecretBuffer {
    /// Writes the "Service" of docs/formats/online-protocol.md, with the secret of a confidential client.
    mutating func write(_ service: OnlineService, clientSecret: borrowing SecretBytes) {
        write(service.deadlines, service.domain)
        write(shortList: service.headers)
        write(service.trusted.map { Certificates(pem: $0) }, service.profile)
        switch service.kind {
        case .basic(let basic): write(tag: 1, basic)
        case .oauth(let oauth):
            write(tag: 2, oauth.grant, oauth.endpoint, oauth.clientID)
            write(shortList: oauth.scopes)
            write(oauth.includesClientHeader, oauth.issuer)
            write(shortList: oauth.origins)
            write(oauth.browser)
            write(clientSecret)
            write(oauth.proof)
            write(oauth.tokenEndpoints.introspection, oauth.tokenEndpoints.userInfo)
            write(oauth.clientAssertion)
            write(oauth.constraint)
        case .oamms(let oamms): write(tag: 3, oamms.server, oamms.serviceDomain, oamms.application)
        case .certificate(let addresses): write(tag: 4, addresses)
        }
        write(service.chain)
    }
}

/// A service as it was read, with the secret of a confidential client. The secret is empty for all other clients.
struct DecodedService: ~Copyable {
    let service: OnlineService
    let clientSecret: SecretBytes

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let (deadlines, domain): (OnlineDeadlines, OnlineService.Domain?) = (try wire.read(), try wire.read())
        let headers: [OnlineService.Header] = try wire.shortList(upTo: OnlineQuestion.maximumListEntries)
        let (trusted, profile): (Certificates?, String?) = (try wire.read(), try wire.read())
        let kind: OnlineService.Kind
        let secret: SecretBytes
        switch try wire.read(UInt8.self) {
        case 1:
            kind = .basic(try wire.read())
            secret = SecretBytes(copying: [])
        case 2:
            let grant: OAuthService.Grant = try wire.read()
            let (endpoint, client): (OAuthService.Endpoint, String) = (try wire.read(), try wire.read())
            // Every other grant needs a token endpoint.
            if case .pages = endpoint, grant != .implicit { throw MalformedBytes() }
            let scopes: [String] = try wire.shortList(upTo: OnlineQuestion.maximumListEntries)
            let (includesHeader, issuer): (Bool, String?) = (try wire.read(), try wire.read())
            let origins: [String] = try wire.shortList(upTo: OnlineQuestion.maximumListEntries)
            // Only the issuer says then which origins the endpoints may have.
            if case .configuration = endpoint, issuer == nil { throw MalformedBytes() }
            let browser: BrowserLogin? = try wire.read()
            guard grant.namesUser == (browser != nil) else { throw MalformedBytes() }
            secret = try wire.secret(upTo: OnlineQuestion.maximumSecret)
            let proof: ClientProof = try wire.read()
            let tokenEndpoints = TokenEndpoints(introspection: try wire.read(), userInfo: try wire.read())
            kind = .oauth(
                OAuthService(
                    endpoint, clientID: client, scopes: scopes, includesClientHeader: includesHeader, grant: grant,
                    issuer: issuer, origins: origins, browser: browser, proof: proof, tokenEndpoints: tokenEndpoints,
                    clientAssertion: try wire.read(), constraint: try wire.read()))
        case 3:
            kind = .oamms(
                OAMMSService(try wire.read(), serviceDomain: try wire.read(), application: try wire.read()))
            secret = SecretBytes(copying: [])
        case 4:
            kind = .certificate(try wire.read())
            secret = SecretBytes(copying: [])
        default: throw MalformedBytes()
        }
        let chain: ClientChain? = try wire.read()
        // Only there a certificate has a meaning.
        switch kind {
        case .certificate: guard chain != nil else { throw MalformedBytes() }
        case .oamms: guard chain == nil else { throw MalformedBytes() }
        case .basic, .oauth: break
        }
        clientSecret = secret
        service = OnlineService(
            kind, domain: domain, headers: headers, trusted: trusted?.pem, profile: profile, deadlines: deadlines, chain: chain)
    }
}

/// login ‖ optional logout ‖ required tokens ‖ flag
extension BasicService: WireValue {
    func write(to body: inout SecretBuffer) {
        body.write(login, logout)
        body.write(shortList: requiredTokens)
        body.write(sendsHeadersAtLogout)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(
            login: try wire.read(), logout: try wire.read(),
            requiredTokens: try wire.shortList(upTo: OnlineQuestion.maximumListEntries), sendsHeadersAtLogout: try wire.read())
    }
}

/// identity ‖ count (1) ‖ per certificate: count (4) ‖ DER ‖ flag
extension ClientChain: WireValue {
    func write(to body: inout SecretBuffer) {
        body.write(identity, UInt8(certificates.count))
        for certificate in certificates {
            body.write(UInt32(certificate.count))
            body.append(certificate.span)
        }
        body.write(allowsTLS12)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let (identity, count): (String, UInt8) = (try wire.read(), try wire.read())
        guard (1...Self.longest).contains(Int(count)) else { throw MalformedBytes() }
        var certificates: [[UInt8]] = []
        for _ in 0..<count {
            let bytes: UInt32 = try wire.read()
            guard bytes <= Self.largest else { throw MalformedBytes() }
            certificates.append(try wire.bytes(Int(bytes)))
        }
        guard let chain = ClientChain(certificates, of: identity, allowsTLS12: try wire.read()) else { throw MalformedBytes() }
        self = chain
    }
}

/// connect (4) ‖ total (4)
extension OnlineDeadlines: WireValue {
    func write(to body: inout SecretBuffer) { body.write(connect, total) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let (connect, total): (UInt32, UInt32) = (try wire.read(), try wire.read())
        guard Self.range.contains(connect), Self.range.contains(total) else { throw MalformedBytes() }
        self.init(connect: connect, total: total)
    }
}

/// name ‖ optional header
extension OnlineService.Domain: WireValue {
    func write(to body: inout SecretBuffer) { body.write(name, header) }

    init(from wire: inout WireReader) throws(MalformedBytes) { self.init(try wire.read(), header: try wire.read()) }
}

/// name ‖ value
extension OnlineService.Header: WireValue {
    func write(to body: inout SecretBuffer) { body.write(name, value) }

    init(from wire: inout WireReader) throws(MalformedBytes) { self.init(try wire.read(), try wire.read()) }
}

/// count (4) ‖ PEM
private struct Certificates: WireValue {
    let pem: [UInt8]

    init(pem: [UInt8]) { self.pem = pem }

    func write(to body: inout SecretBuffer) {
        body.write(UInt32(pem.count))
        body.append(pem.span)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let count: UInt32 = try wire.read()
        guard count <= OnlineQuestion.maximumTrustedBytes else { throw MalformedBytes() }
        pem = try wire.bytes(Int(count))
    }
}

extension OAuthService.Grant: WireValue {}
extension SenderConstraint: WireValue {}

/// eleven optional values: redirect ‖ authorization ‖ device ‖ key set ‖ user info ‖ prompt ‖ maximum age (4) ‖ context classes
/// ‖ user claim ‖ login hint ‖ end of session
extension BrowserLogin: WireValue {
    func write(to body: inout SecretBuffer) {
        body.write(redirect, authorization, device, keySet, userInfo, prompt)
        body.write(maximumAge, contextClasses, userClaim, loginHint, endSession)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(
            redirect: try wire.read(), authorization: try wire.read(), device: try wire.read(), keySet: try wire.read(),
            userInfo: try wire.read(), prompt: try wire.read(), maximumAge: try wire.read(), contextClasses: try wire.read(),
            userClaim: try wire.read(), loginHint: try wire.read(), endSession: try wire.read())
    }

    fileprivate var texts: [String] {
        [redirect, authorization, device, keySet, userInfo, prompt, contextClasses, userClaim, loginHint, endSession].compactMap(
            \.self)
    }
}

/// 1 ‖ address, or 2 ‖ token ‖ optional revocation, or 3 ‖ optional revocation, or 4 ‖ document
extension OAuthService.Endpoint: WireValue {
    func write(to body: inout SecretBuffer) {
        switch self {
        case .discovery(let address): body.write(tag: 1, address)
        case .token(let token, let revocation): body.write(tag: 2, token, revocation)
        case .pages(let revocation): body.write(tag: 3, revocation)
        case .configuration(let text): body.write(tag: 4, text)
        }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 1: self = .discovery(try wire.read())
        case 2: self = .token(try wire.read(), revocation: try wire.read())
        case 3: self = .pages(revocation: try wire.read())
        case 4: self = .configuration(try wire.read())
        default: throw MalformedBytes()
        }
    }
}
