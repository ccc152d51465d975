// The service that a question names, as bytes. Format: docs/online-protocol.md, "Service".

internal import OMRecords
internal import OMSecrets

extension OnlineService {
    /// Whether each text fits its two bytes of length, and each list its limit.
    var fits: Bool {
        var texts =
            headers.flatMap { [$0.name, $0.value] } + [domain?.name, domain?.header, profile].compactMap(\.self)
        var lists = [headers.count]
        switch kind {
        case .basic(let basic):
            texts += [basic.login, basic.logout].compactMap(\.self) + basic.requiredTokens
            lists.append(basic.requiredTokens.count)
        case .oauth(let oauth):
            texts += oauth.scopes + [oauth.clientID]
            lists.append(oauth.scopes.count)
            switch oauth.endpoint {
            case .discovery(let address): texts.append(address)
            case .token(let token, let revocation): texts += [token, revocation].compactMap(\.self)
            }
        }
        return texts.allSatisfy { $0.utf8.count <= UInt16.max } && lists.allSatisfy { $0 <= OnlineQuestion.maximumList }
            && trusted?.count ?? 0 <= OnlineQuestion.maximumTrusted
    }
}

extension SecretBuffer {
    /// The page's "service".
    mutating func append(service: OnlineService, clientSecret: borrowing SecretBytes) {
        append(number: service.deadlines.connect)
        append(number: service.deadlines.total)
        append(optional: service.domain) { body, domain in
            body.append(text: domain.name)
            body.append(optional: domain.header) { $0.append(text: $1) }
        }
        append(number: UInt16(service.headers.count))
        for header in service.headers {
            append(text: header.name)
            append(text: header.value)
        }
        append(optional: service.trusted) { body, pem in
            body.append(number: UInt32(pem.count))
            body.append(pem.span)
        }
        append(optional: service.profile) { $0.append(text: $1) }
        switch service.kind {
        case .basic(let basic):
            append(1)
            append(text: basic.login)
            append(optional: basic.logout) { $0.append(text: $1) }
            append(texts: basic.requiredTokens)
            append(basic.sendsHeadersAtLogout ? 1 : 0)
        case .oauth(let oauth):
            append(2)
            switch oauth.endpoint {
            case .discovery(let address):
                append(1)
                append(text: address)
            case .token(let token, let revocation):
                append(2)
                append(text: token)
                append(optional: revocation) { $0.append(text: $1) }
            }
            append(text: oauth.clientID)
            append(texts: oauth.scopes)
            append(oauth.includesClientHeader ? 1 : 0)
            append(counted: clientSecret)
        }
    }

    /// count (2) ‖ texts
    fileprivate mutating func append(texts: [String]) {
        append(number: UInt16(texts.count))
        for text in texts { append(text: text) }
    }
}

extension ByteCursor {
    mutating func secret(upTo maximum: Int, in bytes: Span<UInt8>) throws(MalformedBytes) -> SecretBytes {
        let secret = try secret(in: bytes)
        guard secret.count <= maximum else { throw MalformedBytes() }
        return secret
    }

    mutating func optionalText(in bytes: Span<UInt8>) throws(MalformedBytes) -> String? {
        try flag(in: bytes) ? try text(in: bytes) : nil
    }

    private mutating func texts(in bytes: Span<UInt8>) throws(MalformedBytes) -> [String] {
        let count = try number(UInt16.self, in: bytes)
        guard count <= OnlineQuestion.maximumList else { throw MalformedBytes() }
        return try (0..<count).map { _ throws(MalformedBytes) in try text(in: bytes) }
    }

    private mutating func deadline(in bytes: Span<UInt8>) throws(MalformedBytes) -> UInt32 {
        let value = try number(UInt32.self, in: bytes)
        guard OnlineDeadlines.range.contains(value) else { throw MalformedBytes() }
        return value
    }

    mutating func service(
        in bytes: Span<UInt8>, clientSecret: inout SecretBuffer
    ) throws(MalformedBytes) -> OnlineService {
        let deadlines = OnlineDeadlines(connect: try deadline(in: bytes), total: try deadline(in: bytes))
        var domain: OnlineService.Domain?
        if try flag(in: bytes) {
            let name = try text(in: bytes)
            domain = OnlineService.Domain(name, header: try optionalText(in: bytes))
        }
        let count = try number(UInt16.self, in: bytes)
        guard count <= OnlineQuestion.maximumList else { throw MalformedBytes() }
        let headers = try (0..<count).map { _ throws(MalformedBytes) in
            OnlineService.Header(try text(in: bytes), try text(in: bytes))
        }
        var trusted: [UInt8]?
        if try flag(in: bytes) {
            let length = try number(UInt32.self, in: bytes)
            guard length <= OnlineQuestion.maximumTrusted else { throw MalformedBytes() }
            trusted = try take(Int(length), in: bytes)
        }
        let profile = try optionalText(in: bytes)
        let kind: OnlineService.Kind
        switch try byte(in: bytes) {
        case 1:
            let login = try text(in: bytes)
            let logout = try optionalText(in: bytes)
            let tokens = try texts(in: bytes)
            kind = .basic(
                BasicService(
                    login: login, logout: logout, requiredTokens: tokens, sendsHeadersAtLogout: try flag(in: bytes)))
        case 2:
            let endpoint = try endpoint(in: bytes)
            let client = try text(in: bytes)
            let scopes = try texts(in: bytes)
            kind = .oauth(
                OAuthService(endpoint, clientID: client, scopes: scopes, includesClientHeader: try flag(in: bytes)))
            clientSecret.append(try secret(upTo: OnlineQuestion.maximumSecret, in: bytes))
        default: throw MalformedBytes()
        }
        return OnlineService(
            kind, domain: domain, headers: headers, trusted: trusted, profile: profile, deadlines: deadlines)
    }

    private mutating func endpoint(in bytes: Span<UInt8>) throws(MalformedBytes) -> OAuthService.Endpoint {
        switch try byte(in: bytes) {
        case 1: return .discovery(try text(in: bytes))
        case 2:
            let token = try text(in: bytes)
            return .token(token, revocation: try optionalText(in: bytes))
        default: throw MalformedBytes()
        }
    }
}
