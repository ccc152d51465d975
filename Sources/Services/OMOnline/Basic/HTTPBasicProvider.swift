// Logins over HTTP Basic. docs/reference/online.md, "HTTP Basic".
//
// A password is sent only to a server that asked for one. Attack, or mistake: a login address that every user can read
// says 200 to every password. So the first request has no password, and a 200 to it is refused.

internal import AsyncHTTPClient
internal import NIOHTTP1
public import OMOnlineModel
public import OMSecrets

public struct HTTPBasicProvider: Sendable {
    private let service: OnlineService
    private let basic: BasicService
    private let signer: (any IdentitySigner)?

    /// - Parameter signer: Signs with the private key of the service's certificate. Without one no certificate is shown.
    public init(_ service: OnlineService, _ basic: BasicService, signer: (any IdentitySigner)? = nil) {
        (self.service, self.basic, self.signer) = (service, basic, signer)
    }

    /// Asks the server whether the password is the user's.
    ///
    /// - Parameter password: Sent byte for byte, whether it is UTF-8 or not.
    public func logIn(
        _ user: String, password: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let name = try QualifiedUserName(user, service.domain)
        let authorization = try AuthorizationHeader.basic(name.text, password)
        let headers = try headers(name.header)
        let login = try EndpointURL(basic.login)
        let exchange = try HTTPExchange(service, signer)

        let asking = try await challengingAddress(login, headers, exchange)
        var visit = Visit(exchange: exchange, headers: headers)
        let password = OnlineService.Header("Authorization", authorization)
        var (answer, address) = (try await visit.get(asking, adding: [password]), asking)
        if answer.isRedirect {
            // The next requests have no password. So the cookies must show that it was right: the redirect may lead to
            // a page that says it was wrong.
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

    /// Asks the server whether it still accepts the session. The request has the session's cookies and no password.
    ///
    /// - Throws: ``OnlineRefusal/rejected`` if the server does not accept it.
    public func check(_ session: borrowing SecretBytes) async throws(OnlineRefusal) -> OnlineGrant {
        let jar = try jar(session)
        let login = try EndpointURL(basic.login)
        let domain = service.domain.flatMap { domain in domain.header.map { OnlineService.Header($0, domain.name) } }
        let headers = try headers(domain)
        var visit = Visit(exchange: try HTTPExchange(service, signer), headers: headers, jar: jar)
        let (answer, address) = try await visit.page(login)
        guard answer.status != 403 else { throw .rejected }
        guard answer.isSuccess else { throw HTTPExchange.refusal(answer) }
        guard visit.jar.holds(basic.requiredTokens) else { throw .rejected }
        return OnlineGrant(
            session: try ServerSession.cookies(visit.jar).sealable(), serverTime: address.isSecure ? answer.date : nil)
    }

    /// Tells the server that the session is over. 401 is a success too: the session has ended.
    public func logOut(_ session: borrowing SecretBytes) async throws(OnlineRefusal) -> OnlineGrant {
        try await logOut(session, authorization: nil)
    }

    /// Also sends the password, for `SendAuthorizationHeaderInLogout`. The password goes to the login's server only.
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
        var visit = Visit(exchange: try HTTPExchange(service, signer), headers: headers, jar: jar)
        var answer = try await visit.get(logout, adding: password)
        // A server that redirects to another server has ended the session. The page there is not needed.
        do throws(OnlineRefusal) { answer = try await visit.follow(answer, from: logout).0 } catch {
            guard case .failed(.redirected, _, _) = error else { throw error }
            return OnlineGrant()
        }
        guard answer.isSuccess || answer.status == 401 else { throw HTTPExchange.refusal(answer) }
        return OnlineGrant()
    }

    // MARK: - Requests

    /// The address within the login's own origin that refuses a request without a password. Redirects are followed:
    /// these requests carry no password yet.
    private func challengingAddress(
        _ login: EndpointURL, _ headers: [OnlineService.Header], _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> EndpointURL {
        var visit = Visit(exchange: exchange, headers: headers)
        let (answer, address) = try await visit.page(login)
        switch answer.status {
        // No password was sent yet, so this is about the certificate.
        case 403 where exchange.wasAskedForCertificate: throw .failed(.certificateRefused, status: 403)
        // To a request without a password, some servers answer only 403, 423, or 401 without a challenge.
        case 401, 403, 423:
            guard Self.asksForPassword(answer) else { throw .failed(.otherChallenge, status: UInt16(answer.status)) }
            return address
        case 200..<300: throw .failed(.noChallenge, status: UInt16(answer.status))
        default: throw HTTPExchange.refusal(answer)
        }
    }

    /// Attack, or mistake: a server that wants another proof gets the password in clear, and its logs keep it. So the
    /// server must ask for Basic, or name no scheme at all.
    private static func asksForPassword(_ answer: HTTPResponse) -> Bool {
        let challenges = answer.headers["WWW-Authenticate"].flatMap(elements)
        guard !challenges.isEmpty else { return true }
        return challenges.contains { element in
            element.split(maxSplits: 1, whereSeparator: { " \t".contains($0) }).first?.lowercased() == "basic"
        }
    }

    /// The elements of a list in a header field (RFC 9110, 5.6). Commas separate them, except within quotes.
    ///
    /// Attack: `Digest realm="x, Basic y"` seems to name Basic too. It names Digest only, so no password is sent in clear.
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
