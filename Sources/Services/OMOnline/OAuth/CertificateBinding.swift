// Tokens that are bound to the client's certificate (RFC 8705, 3). docs/reference/online.md, "Client certificates".

internal import OMCrypto
internal import OMJSON
internal import OMOnlineModel
internal import OMSecrets

extension OAuthClient {
    /// Refuses tokens that are not bound to the client's certificate, and gives them back. An opaque token says nothing about that:
    /// there it counts that the server asked for the certificate.
    ///
    /// - Throws: ``OnlineFailure/certificateNotAsked``, ``OnlineFailure/foreignBinding``.
    func requireBinding(
        _ said: TokenResponse, _ endpoints: OAuthEndpoints, clientSecret: borrowing SecretBytes, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) {
        guard oauth.constraint == .mtls, let problem = bindingProblem(said.access, exchange) else { return }
        await discard(
            tokens(said, sent: UnixTime.now(), endpoints, clientSecret: clientSecret), clientSecret: clientSecret)
        throw .failed(problem)
    }

    private func bindingProblem(_ access: String, _ exchange: HTTPExchange) -> OnlineFailure? {
        guard let own = service.chain?.certificates.first, exchange.wasAskedForCertificate else { return .certificateNotAsked }
        // Attack: the server, or a machine in front of it, gives a token that works with another certificate, or with none.
        switch CertificateBinding(access) {
        case .opaque: return nil
        case .none: return .foreignBinding
        case .thumbprint(let text): return text == CertificateBinding.thumbprint(of: own) ? nil : .foreignBinding
        }
    }
}

/// What an access token says about the certificate that it is bound to. Nothing of it is verified: the token is for another server.
enum CertificateBinding: Hashable {
    /// It is no JWT.
    case opaque
    /// It is a JWT that names no certificate.
    case none
    case thumbprint(String)

    init(_ access: String) {
        let parts = access.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, Self.object(parts[0])?["alg"] != nil, let claims = Self.object(parts[1]) else {
            self = .opaque
            return
        }
        self = claims["cnf"]?.members?["x5t#S256"]?.text.map { .thumbprint($0) } ?? .none
    }

    /// `x5t#S256` (RFC 8705, 3.1).
    static func thumbprint(of certificate: [UInt8]) -> String? {
        (try? Certificate(der: certificate).fingerprint()).map { Base64URL.encode($0) }
    }

    private static func object(_ part: Substring) -> [String: JSON]? {
        let text = Array(part.utf8)
        guard let bytes = try? Base64URL.decode(text.span) else { return nil }
        return bytes.withBytes { (try? JSON(parsing: $0))?.members }
    }
}
