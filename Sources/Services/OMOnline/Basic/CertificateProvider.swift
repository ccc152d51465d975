// Logins by a client certificate alone. docs/reference/online.md, "Client certificates".
//
// Attack, or mistake: a login address that every client can read says 200 to every certificate. So the first request shows none, and a
// server that lets it in is refused. A server that did not ask for the certificate is refused too.

public import OMOnlineModel
public import OMSecrets

public struct CertificateProvider: Sendable {
    private let service: OnlineService
    private let addresses: BasicService
    private let signer: any IdentitySigner

    /// - Parameter signer: Signs with the private key of the service's certificate.
    public init(_ service: OnlineService, _ addresses: BasicService, signer: any IdentitySigner) {
        (self.service, self.addresses, self.signer) = (service, addresses, signer)
    }

    /// Asks the server whether the certificate opens the login address.
    ///
    /// - Throws: ``OnlineFailure/certificateRefused``, ``OnlineFailure/certificateNotAsked``,
    ///   ``OnlineFailure/noCertificateNeeded``.
    public func logIn() async throws(OnlineRefusal) -> OnlineGrant {
        let login = try EndpointURL(addresses.login)
        let headers = try CustomHeaders(service.headers).fields
        try await requireRefusal(at: login, headers)
        let exchange = try HTTPExchange(service, signer)
        var visit = Visit(exchange: exchange, headers: headers)
        var (answer, address) = (try await visit.get(login), login)
        try requireAcceptance(answer, exchange)
        if answer.isRedirect {
            // The page behind a redirect may say that the certificate was wrong. So the cookies must show that it was right.
            guard !addresses.requiredTokens.isEmpty else { throw .failed(.redirected, status: UInt16(answer.status)) }
            (answer, address) = try await visit.follow(answer, from: address)
            try requireAcceptance(answer, exchange)
        }
        guard answer.isSuccess else { throw HTTPExchange.refusal(answer) }
        guard exchange.wasAskedForCertificate else {
            throw .failed(.certificateNotAsked, status: UInt16(answer.status))
        }
        guard visit.jar.holds(addresses.requiredTokens) else {
            throw .failed(.tokenMissing, status: UInt16(answer.status))
        }
        return OnlineGrant(
            session: try ServerSession.cookies(visit.jar).sealable(), serverTime: address.isSecure ? answer.date : nil)
    }

    /// Asks the server whether it still accepts the session, with its cookies and the certificate.
    ///
    /// - Throws: ``OnlineRefusal/rejected`` if the server does not accept it.
    public func check(_ session: borrowing SecretBytes) async throws(OnlineRefusal) -> OnlineGrant {
        try await HTTPBasicProvider(service, addresses, signer: signer).check(session)
    }

    /// Tells the server that the session is over, with its cookies and the certificate.
    public func logOut(_ session: borrowing SecretBytes) async throws(OnlineRefusal) -> OnlineGrant {
        try await HTTPBasicProvider(service, addresses, signer: signer).logOut(session)
    }

    /// Asks without a certificate, which the server must refuse.
    private func requireRefusal(
        at login: EndpointURL, _ headers: [OnlineService.Header]
    ) async throws(OnlineRefusal) {
        var visit = Visit(exchange: try HTTPExchange(service), headers: headers)
        let answer: HTTPResponse
        do throws(OnlineRefusal) { answer = try await visit.get(login) } catch {
            guard case .failed(.certificateRefused, _, _) = error else { throw error }
            return
        }
        guard !Self.refusals.contains(answer.status) else { return }
        guard answer.isSuccess || answer.isRedirect else { throw HTTPExchange.refusal(answer) }
        throw .failed(.noCertificateNeeded, status: UInt16(answer.status))
    }

    /// The statuses of a server that refuses a client without a certificate, or with a wrong one.
    private static let refusals: Set<Int> = [400, 401, 403, 495, 496]

    /// Nothing but the certificate was sent, so a refusal is about it.
    private func requireAcceptance(_ answer: HTTPResponse, _ exchange: HTTPExchange) throws(OnlineRefusal) {
        guard Self.refusals.contains(answer.status) else { return }
        throw .failed(
            exchange.wasAskedForCertificate ? .certificateRefused : .certificateNotAsked, status: UInt16(answer.status))
    }
}
