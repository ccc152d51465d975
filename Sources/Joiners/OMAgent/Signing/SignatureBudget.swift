// The signatures that the helper of one question may ask for.

internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMVault

/// Checks each *sign* of a helper before anything is signed.
///
/// Attack: an answer of the server took the helper over. It asks for signatures of bytes of its choice, or for many that are used
/// later. So each purpose is typed, and each question has few signatures.
struct SignatureBudget {
    private let service: OnlineService
    private let task: OnlineTask?
    private var assertions: Int
    private var handshakes: Int
    private var proofs: Int
    private var nonces: Int

    init(_ service: OnlineService, _ task: OnlineTask) {
        (self.service, self.task) = (service, task)
        // Each request for tokens that is sent again with a nonce has another assertion.
        let again = service.isBoundToKey ? Self.tokenRequests(task) : 0
        let ofClient = service.assertionKey == nil ? 0 : Self.assertions(task) + again
        // The grant itself, beside the client's proof.
        assertions = ofClient + (task.mintsGrant ? 1 + again : 0)
        handshakes = service.chain == nil ? 0 : Self.handshakes(task, service.kind) + (again > 0 ? again + 1 : 0)
        proofs = service.isBoundToKey ? Self.proofs(task) : 0
        nonces = proofs
    }

    /// The signatures of a helper of requests, which goes to this origin only.
    ///
    /// - Parameters:
    ///   - proves: Whether the token is bound to a key of the session.
    ///   - chain: The certificate that the helper shows. Nil for none.
    init(requestsTo origin: String, proves: Bool, showing chain: ClientChain?) {
        let oauth = OAuthService(.token(origin, revocation: nil), clientID: "", constraint: proves ? .dpop : .none)
        (service, task) = (OnlineService(.oauth(oauth), chain: chain), nil)
        assertions = 0
        handshakes = chain == nil ? 0 : RequestSigner.mostHandshakes
        proofs = proves ? Self.mostProofs * Int(RequestOpening.mostRequests) : 0
        nonces = proofs
    }

    /// The most signatures from here on.
    var left: Int { assertions + handshakes + proofs + nonces }

    /// What is signed, and with which key. Nil for a purpose that this question may not have, or not any more: then the helper is
    /// not to be trusted.
    mutating func take(_ purpose: SigningPurpose) -> SignatureContent? {
        switch purpose {
        case .assertion(let kind, let algorithms):
            guard case .oauth(let oauth) = service.kind, assertions > 0, let identity = oauth.proof.key,
                mayAssert(at: kind)
            else { return nil }
            assertions -= 1
            guard let audience = oauth.audience(at: kind) else { return .noAudience }
            return .use(.assertion(clientID: oauth.clientID, audience: audience, algorithms: algorithms), identity: identity)
        case .handshake(let text, let scheme):
            guard handshakes > 0, let chain = service.chain else { return nil }
            guard SigningPurpose.isHandshake(text) || chain.allowsTLS12 && HandshakeTranscript.isOne(text) else { return nil }
            handshakes -= 1
            return .use(.handshake(text: text, scheme: scheme), identity: chain.identity)
        case .proof(let claims):
            guard proofs > 0, isProven(claims.address) else { return nil }
            proofs -= 1
            return .proof(claims)
        case .nonce(let nonce, let address):
            guard nonces > 0, isProven(address) else { return nil }
            nonces -= 1
            return .nonce(nonce, of: address)
        }
    }

    /// Whether an assertion may go to such an endpoint. If the client proves itself in another way, only as the grant.
    private func mayAssert(at kind: ServerEndpoint.Kind) -> Bool {
        service.assertionKey == nil ? kind == .token && task?.mintsGrant ?? false : Self.endpoints.contains(kind)
    }

    /// Whether the address is at an origin that may get a proof of the session's key.
    private func isProven(_ address: String) -> Bool {
        guard case .oauth(let oauth) = service.kind, let asked = ServerURL(address)?.origin else { return false }
        return oauth.provenAddresses.contains { ServerURL($0)?.origin == asked }
    }

    /// The most proofs of one question, and of one request.
    static let mostProofs = 8

    private static func proofs(_ task: OnlineTask) -> Int {
        // A server may want a nonce of its own in the proof of each request.
        mostProofs + 2 * (tokenRequests(task) - 1)
    }

    /// The most requests for tokens, without those that are sent again.
    private static func tokenRequests(_ task: OnlineTask) -> Int {
        guard case .authorize(_, let seconds, byDevice: true) = task else { return 1 }
        return polls(seconds)
    }

    /// The most requests with an assertion: for tokens, and two that revoke them if they are not kept.
    private static func assertions(_ task: OnlineTask) -> Int {
        switch task {
        // The request goes to the server first, if it takes pushed requests.
        case .authorize(_, _, byDevice: false): 4
        case .authorize(_, let seconds, byDevice: true): 3 + polls(seconds)
        default: 3
        }
    }

    /// The most requests to the profile's own origins. A server may close each connection, so each request can have a handshake.
    private static func handshakes(_ task: OnlineTask, _ kind: OnlineService.Kind) -> Int {
        let page = 1 + OnlineService.mostRedirects
        switch (kind, task) {
        // Without the password, with it, and for the application profile.
        case (.basic, .login), (.certificate, .login): return 2 * page + 1
        case (.certificate, .tryCertificate): return 1
        case (.basic, _), (.certificate, _), (.oamms, _): return page
        // The document, the pushed request, the tokens, the keys, the user, two revocations, and the application profile.
        case (.oauth, .authorize(_, _, byDevice: false)): return 8
        case (.oauth, .authorize(_, let seconds, byDevice: true)): return 7 + polls(seconds)
        // The document, the tokens, the keys, and two revocations.
        case (.oauth, _): return 5
        }
    }

    /// How often a login by a code asks for the tokens. The last question comes at the end of the code's life.
    private static func polls(_ seconds: UInt32) -> Int { Int(seconds / OnlineService.shortestSignedPause) + 1 }

    /// The endpoints that take an assertion.
    private static let endpoints: Set<ServerEndpoint.Kind> = [
        .token, .revocation, .device, .pushedRequest, .introspection,
    ]
}

/// What a *sign* is about.
enum SignatureContent: Hashable {
    case use(IdentityUse, identity: String)
    /// The profile does not say for whom an assertion at this endpoint is.
    case noAudience
    /// The session's key signs.
    case proof(KeyProofClaims)
    /// Nothing is signed. The nonce is kept.
    case nonce(String, of: String)
}
