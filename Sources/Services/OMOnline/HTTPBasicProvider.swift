// Logins over HTTP Basic. docs/online.md, "HTTP Basic".
//
// A password is sent only to a server that asked for one. Attack, or mere mistake: a login address that anybody may read
// says 200 to every password.

internal import AsyncHTTPClient
internal import NIOHTTP1
public import OMOnlineModel
public import OMSecrets

public struct HTTPBasicProvider: Sendable {
    private let service: OnlineService
    private let basic: BasicService

    public init(_ service: OnlineService, _ basic: BasicService) { (self.service, self.basic) = (service, basic) }

    /// Asks the server whether the password is the user's.
    ///
    /// - Parameter password: used as the bytes it is, in UTF-8 or not.
    public func logIn(
        _ user: String, password: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let name = try QualifiedUserName(user, service.domain)
        let authorization = try AuthorizationHeader.basic(name.text, password)
        let headers = try headers(name.header)
        let login = try EndpointURL(basic.login)
        let exchange = try HTTPExchange(service)

        let asking = try await challengingAddress(login, headers, exchange)
        var visit = Visit(exchange: exchange, headers: headers)
        let password = OnlineService.Header("Authorization", authorization)
        var (answer, address) = (try await visit.get(asking, adding: [password]), asking)
        if answer.isRedirect {
            // From here on without the password. The cookies must then say that it was right: the page that the redirect
            // leads to may be the one that says it was wrong.
            guard !basic.requiredTokens.isEmpty else { throw .failed(.redirected, status: UInt16(answer.status)) }
            (answer, address) = try await visit.followAfterPassword(answer, from: address)
            guard answer.status != 401, answer.status != 403 else {
                throw .failed(.redirected, status: UInt16(answer.status))
            }
        }
        guard answer.isSuccess else { throw HTTPExchange.refusal(answer) }
        guard visit.jar.holds(basic.requiredTokens) else { throw .failed(.tokenMissing, status: UInt16(answer.status)) }
        return OnlineGrant(
            session: try ServerSession.cookies(visit.jar).sealable(), serverTime: address.isSecure ? answer.date : nil,
            profile: await ApplicationProfile.fetchIfAny(service, exchange))
    }

    /// Asks the server whether the session still counts, with its cookies and without a password.
    ///
    /// - Throws: ``OnlineRefusal/rejected`` when it does not.
    public func check(_ session: borrowing SecretBytes) async throws(OnlineRefusal) -> OnlineGrant {
        let jar = try jar(session)
        let login = try EndpointURL(basic.login)
        let domain = service.domain.flatMap { domain in domain.header.map { OnlineService.Header($0, domain.name) } }
        let headers = try headers(domain)
        var visit = Visit(exchange: try HTTPExchange(service), headers: headers, jar: jar)
        let (answer, address) = try await visit.page(login)
        guard answer.status != 403 else { throw .rejected }
        guard answer.isSuccess else { throw HTTPExchange.refusal(answer) }
        guard visit.jar.holds(basic.requiredTokens) else { throw .rejected }
        return OnlineGrant(
            session: try ServerSession.cookies(visit.jar).sealable(), serverTime: address.isSecure ? answer.date : nil)
    }

    /// Tells the server that the session is over. 401 is a success: it is over.
    public func logOut(_ session: borrowing SecretBytes) async throws(OnlineRefusal) -> OnlineGrant {
        try await logOut(session, authorization: nil)
    }

    /// The same, with the password as `SendAuthorizationHeaderInLogout` asks for; it goes to the login's server only.
    public func logOut(
        _ session: borrowing SecretBytes, user: String, password: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let name = try QualifiedUserName(user, service.domain)
        return try await logOut(session, authorization: try AuthorizationHeader.basic(name.text, password))
    }

    private func logOut(
        _ session: borrowing SecretBytes, authorization: String?
    ) async throws(OnlineRefusal) -> OnlineGrant {
        guard let text = basic.logout else { throw .failed(.noLogout) }
        let jar = try jar(session)
        let (logout, login) = (try EndpointURL(text), try EndpointURL(basic.login))
        let headers = basic.sendsHeadersAtLogout ? try headers(nil) : []
        var password: [OnlineService.Header] = []
        if let authorization, logout.hasOrigin(of: login) {
            password.append(OnlineService.Header("Authorization", authorization))
        }
        var visit = Visit(exchange: try HTTPExchange(service), headers: headers, jar: jar)
        var answer = try await visit.get(logout, adding: password)
        // A server that sends us on to another one has ended the session; where it sends us is of no use.
        do throws(OnlineRefusal) { answer = try await visit.follow(answer, from: logout).0 } catch {
            guard case .failed(.redirected, _, _) = error else { throw error }
            return OnlineGrant()
        }
        guard answer.isSuccess || answer.status == 401 else { throw HTTPExchange.refusal(answer) }
        return OnlineGrant()
    }

    // MARK: - Requests

    /// The address within the login's own origin that refuses whoever brings no password. Redirects are followed: there
    /// is nothing yet that they could carry away.
    private func challengingAddress(
        _ login: EndpointURL, _ headers: [OnlineService.Header], _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> EndpointURL {
        var visit = Visit(exchange: exchange, headers: headers)
        let (answer, address) = try await visit.page(login)
        switch answer.status {
        // 403 and 423, and 401 without a word, may be all that a server says to somebody without a password.
        case 401, 403, 423:
            guard Self.asksForPassword(answer) else { throw .failed(.otherChallenge, status: UInt16(answer.status)) }
            return address
        case 200..<300: throw .failed(.noChallenge, status: UInt16(answer.status))
        default: throw HTTPExchange.refusal(answer)
        }
    }

    /// Attack, or mistake: a server that wants another proof is sent a password in clear, to be read in its logs.
    private static func asksForPassword(_ answer: HTTPResponse) -> Bool {
        let challenges = answer.headers["WWW-Authenticate"].flatMap(elements)
        guard !challenges.isEmpty else { return true }
        return challenges.contains { element in
            element.split(maxSplits: 1, whereSeparator: { " \t".contains($0) }).first?.lowercased() == "basic"
        }
    }

    /// The elements of a list in a header field (RFC 9110, 5.6): between commas, those within quotes left alone.
    ///
    /// Attack: `Digest realm="x, Basic y"` names Digest only, and a password for it must not go out in clear.
    private static func elements(_ field: String) -> [Substring] {
        var elements: [Substring] = [], start = field.startIndex
        var (isQuoted, isEscaped) = (false, false)
        for index in field.indices {
            switch field[index] {
            case _ where isEscaped: isEscaped = false
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case "," where !isQuoted:
                elements.append(field[start..<index])
                start = field.index(after: index)
            default: break
            }
        }
        return (elements + [field[start...]]).filter { element in element.contains { !" \t".contains($0) } }
    }

    private func headers(_ domain: OnlineService.Header?) throws(OnlineRefusal) -> [OnlineService.Header] {
        if let domain { guard CustomHeaders.isUsable(domain) else { throw .failed(.unusableHeaders) } }
        return try CustomHeaders(service.headers).fields + (domain.map { [$0] } ?? [])
    }

    private func jar(_ session: borrowing SecretBytes) throws(OnlineRefusal) -> CookieJar {
        guard case .cookies(let jar) = try ServerSession(session) else { throw .failed(.unusableSession) }
        return jar
    }
}

/// Requests to one server, with its cookies.
private struct Visit {
    private static let maximumRedirects = 5
    /// The page behind the login is of no use; so much of it is read to see that it is whole.
    private static let maximumPage = 1 << 20

    let exchange: HTTPExchange
    /// They go with every request.
    let headers: [OnlineService.Header]
    var jar = CookieJar()

    mutating func get(
        _ address: EndpointURL, adding more: [OnlineService.Header] = []
    ) async throws(OnlineRefusal) -> HTTPResponse {
        var request = HTTPClientRequest(url: address.text)
        for header in headers + more { request.headers.add(name: header.name, value: header.value) }
        if let field = jar.field(for: address, now: UnixTime.now()) { request.headers.add(name: "Cookie", value: field) }
        let answer = try await exchange.fetch(request, limit: Self.maximumPage, readsErrors: false)
        try jar.store(answer.headers["Set-Cookie"], from: address, now: UnixTime.now())
        return answer
    }

    /// The page that the address leads to, and its own address.
    mutating func page(_ address: EndpointURL) async throws(OnlineRefusal) -> (HTTPResponse, EndpointURL) {
        let answer = try await get(address)
        return try await follow(answer, from: address)
    }

    mutating func follow(
        _ answer: HTTPResponse, from address: EndpointURL
    ) async throws(OnlineRefusal) -> (HTTPResponse, EndpointURL) {
        var (answer, address) = (answer, address)
        var followed = 0
        while answer.isRedirect {
            let status = UInt16(answer.status)
            guard let location = answer.headers.first(name: "Location"), let target = address.resolving(location) else {
                throw .failed(.redirected, status: status)
            }
            guard target.isSecure || !address.isSecure else { throw .failed(.downgraded, status: status) }
            guard target.hasOrigin(of: address), followed < Self.maximumRedirects else {
                throw .failed(.redirected, status: status)
            }
            address = target
            answer = try await get(address)
            followed += 1
        }
        return (answer, address)
    }

    /// The same, of a server that has the password already. Attack: it closes its port behind a redirect, and a password that
    /// was sent would count as one that was not.
    mutating func followAfterPassword(
        _ answer: HTTPResponse, from address: EndpointURL
    ) async throws(OnlineRefusal) -> (HTTPResponse, EndpointURL) {
        do throws(OnlineRefusal) { return try await follow(answer, from: address) } catch {
            switch error {
            case .unreachable(.timedOut), .unreachable(.gateway): throw error
            case .unreachable, .untrusted: throw .failed(.brokenAnswer, status: UInt16(answer.status))
            default: throw error
            }
        }
    }
}
