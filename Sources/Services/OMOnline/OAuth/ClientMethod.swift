// How the client proves itself at one endpoint: decided once, from the profile and the server's document.

internal import OMOnlineModel

enum ClientMethod: Hashable, Sendable {
    /// The client's id alone.
    case none
    /// A confidential client's secret. A public client, which has none, sends its id.
    case secret(isInBody: Bool)
    /// An assertion that the client's key signs (RFC 7523).
    case assertion
    /// An assertion that another party signed for the client, from a source of the profile.
    case readyMade(AssertionKind)

    /// - Parameters:
    ///   - offered: The methods that the server's document lists for the endpoint. Nil for no list.
    ///   - hasSecret: Whether the client has a secret.
    init(_ oauth: OAuthService, offered: [String]?, hasSecret: Bool) {
        let proof = oauth.proof
        // It comes in place of a secret, so the client has no other proof.
        if hasSecret, let kind = oauth.readyMadeAssertion {
            self = .readyMade(kind)
            return
        }
        // Without a list the secret goes into a header: by RFC 8414 every server takes that.
        let takesOnlyBody = offered.map { !$0.contains("client_secret_basic") && $0.contains("client_secret_post") } ?? false
        switch proof.method {
        case .none: self = .none
        case .secretInHeader: self = .secret(isInBody: false)
        case .secretInBody: self = .secret(isInBody: true)
        case .signedAssertion: self = .assertion
        // The certificate itself is the proof. The request has the client's id.
        case .certificate, .selfSignedCertificate: self = .none
        case .automatic:
            let takesAssertion = offered?.contains("private_key_jwt") ?? true
            // A client without a secret has no other proof, so it sends its assertion in any case.
            self = proof.key != nil && (takesAssertion || !hasSecret) ? .assertion : .secret(isInBody: takesOnlyBody)
        }
    }
}

extension OAuthService {
    /// The form of the ready-made assertion, if it counts: with `auto`, and a JWT with `private_key_jwt`. The client's own key has
    /// precedence.
    var readyMadeAssertion: AssertionKind? { clientAssertion.flatMap { proof.readyMade.contains($0) ? $0 : nil } }
}
