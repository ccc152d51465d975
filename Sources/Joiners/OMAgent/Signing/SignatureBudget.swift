// The signatures that the helper of one question may ask for.

internal import OMOnlineModel
internal import OMSecrets
internal import OMVault

/// Checks each *sign* of a helper before anything is signed.
///
/// Attack: an answer of the server took the helper over. It asks for signatures of bytes of its choice, or for many that are used
/// later. So each purpose is typed, and each question has few signatures.
struct SignatureBudget {
    static let mostAssertions = 3
    static let mostHandshakes = 4
    /// The shortest pause between two questions for the tokens of a device code, in seconds (RFC 8628, 3.5).
    private static let shortestPause: UInt32 = 5

    private let service: OnlineService
    private var assertions: Int
    private var handshakes: Int

    init(_ service: OnlineService, _ task: OnlineTask) {
        self.service = service
        // A login by a code asks for the tokens again and again, with a proof each time.
        var polls = 0
        if case .authorize(_, let seconds, byDevice: true) = task { polls = Int(seconds / Self.shortestPause) }
        assertions = service.assertionKey == nil ? 0 : Self.mostAssertions + polls
        handshakes = service.chain == nil ? 0 : Self.mostHandshakes + polls
    }

    /// The most signatures from here on.
    var left: Int { assertions + handshakes }

    /// The identity, and what it signs. Nil for a purpose that this question may not have, or not any more: then the helper is
    /// not to be trusted.
    mutating func take(_ purpose: SigningPurpose) -> (identity: String, SignatureContent)? {
        switch purpose {
        case .assertion(let kind):
            guard case .oauth(let oauth) = service.kind, assertions > 0, let identity = oauth.proof.key,
                Self.endpoints.contains(kind)
            else { return nil }
            assertions -= 1
            guard let audience = oauth.audience(at: kind) else { return (identity, .noAudience) }
            return (identity, .use(.assertion(clientID: oauth.clientID, audience: audience)))
        case .handshake(let text, let scheme):
            guard handshakes > 0, let chain = service.chain else { return nil }
            guard SigningPurpose.isHandshake(text) || chain.allowsTLS12 && HandshakeTranscript.isOne(text) else { return nil }
            handshakes -= 1
            return (chain.identity, .use(.handshake(text: text, scheme: scheme)))
        }
    }

    /// The endpoints that take an assertion.
    private static let endpoints: Set<ServerEndpoint.Kind> = [
        .token, .revocation, .device, .pushedRequest, .introspection,
    ]
}

/// What a *sign* is about.
enum SignatureContent: Hashable {
    case use(IdentityUse)
    /// The profile does not say for whom an assertion at this endpoint is.
    case noAudience
}
