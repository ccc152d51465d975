// One request on its way: over redirects, a renewed token and a gate.

internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMSystem
internal import Synchronization

/// What of a request changes until its last answer. One thread at a time uses it; any thread can cancel it.
final class RequestRun: @unchecked Sendable {
    private let request: RESTRequest
    /// When the last answer must be complete, in milliseconds since boot.
    let end: Int64
    /// Ends a wait for the agent.
    let interruption = Interruption()

    private(set) var method: String
    private(set) var address: ServerURL
    private(set) var headers: [OnlineService.Header]
    private(set) var body: RESTBody
    /// Whether the access token goes along. Once a redirect has left the origin, it never does again.
    private var hasToken: Bool
    /// Whether there is a client certificate. It is shown to the first origin only.
    private let hasCertificate: Bool
    private var redirectsLeft: Int
    private var hasRenewed = false
    private var hasNonce = false
    private var hasRestored = false
    private var nonce: String?
    private var hasLeft = false
    private var renewed: RequestChannel?
    private var used: RequestChannel?
    private(set) var gate: WebGate?
    private(set) var gateToken: GateToken?
    private let cancellation = Mutex<(isAsked: Bool, channel: RequestChannel?)>((false, nil))

    init(_ request: RESTRequest, hasToken: Bool, hasCertificate: Bool) {
        (self.request, self.hasToken, self.hasCertificate) = (request, hasToken, hasCertificate)
        (method, address, headers, body) = (request.method, request.address, request.headers, request.body)
        redirectsLeft = request.redirects
        end = bootMilliseconds() + Int64(request.seconds) * 1_000
    }

    var origin: String { address.origin }

    var question: TokenQuestion {
        TokenQuestion(
            scopes: request.scopes ?? ScopeSet(), atLeast: Self.leastLife,
            narrowing: request.resource.flatMap { TokenNarrowing(scopes: ScopeSet(), resource: $0) })
    }

    /// How long the access token must live, in seconds. A token that ends on the way costs a second try.
    private static let leastLife: UInt32 = 5

    var key: RequestChannel.Key {
        if let gate { return .init(origin: origin, token: .gate(gate), showsCertificate: showsCertificate) }
        return .init(
            origin: origin, token: hasToken ? .session(request.scopes ?? ScopeSet(), resource: request.resource) : .none,
            showsCertificate: showsCertificate)
    }

    /// Attack: a server leads the client to another one, which learns who the user is. So only the origin that the caller named gets
    /// the certificate.
    var showsCertificate: Bool { hasCertificate && !hasLeft }

    /// Whether it can be sent again without harm.
    var changesNothing: Bool { ["GET", "HEAD"].contains(method) && body.isEmpty }

    func secondsLeft() throws(RESTError) -> UInt32 {
        let left = end - bootMilliseconds()
        guard left > 0 else { throw .failed(.unreachable(.timedOut)) }
        return UInt32(clamping: (left + 999) / 1_000)
    }

    // MARK: - Helpers

    func use(_ channel: RequestChannel) throws(RESTError) {
        used = channel
        let isCancelled = cancellation.withLock { cancellation in
            cancellation.channel = channel
            return cancellation.isAsked
        }
        guard !isCancelled else { throw .cancelled }
    }

    func cancel() {
        let channel = cancellation.withLock { cancellation in
            cancellation.isAsked = true
            return cancellation.channel
        }
        interruption.begin()
        channel?.cancel()
    }

    // MARK: - A refused token

    var sentToken: Bool { used?.mark != nil }
    var mark: [UInt8]? { used?.mark }
    var mayRenew: Bool { !hasRenewed }

    /// Whether the session may be restored from the ledger: once.
    func takeRestoring() -> Bool {
        defer { hasRestored = true }
        return !hasRestored
    }

    /// Whether the token is bound to a key, so that a server's nonce is of use.
    var provesKey: Bool { used?.isBound == true }

    /// Whether the request may be sent again with a server's nonce: once.
    func takeNonce(_ nonce: String?) -> Bool {
        defer { (self.nonce, hasNonce) = (nonce, true) }
        return !hasNonce
    }

    /// The headers of the next try. With the nonce that the server has just given, since another request may have got a newer one.
    func takeHeaders() -> [OnlineService.Header] {
        defer { nonce = nil }
        return headers + (nonce.map { [OnlineService.Header("DPoP-Nonce", $0)] } ?? [])
    }

    func useRenewed(_ channel: RequestChannel) { (renewed, hasRenewed) = (channel, true) }

    func takeRenewed() -> RequestChannel? {
        defer { renewed = nil }
        return renewed
    }

    func loseToken() { hasToken = false }

    // MARK: - Gates

    /// A gate is answered once, and only at the server that the caller named.
    var mayAnswerGate: Bool { gate == nil && !hasLeft }

    /// - Returns: false if the body cannot be sent again.
    func answerGate(_ gate: WebGate, _ token: GateToken) -> Bool {
        (self.gate, gateToken) = (gate, token)
        return body.canBeSentAgain
    }

    // MARK: - Redirects

    /// The only headers of the caller that another origin gets.
    private static let harmless: Set<String> = ["accept", "accept-language", "content-type", "user-agent"]

    /// Follows a redirect, if the answer is one and the request allows it.
    ///
    /// - Returns: false if the answer is the last one.
    func follow(_ response: RESTResponse) throws(RESTError) -> Bool {
        guard request.redirects > 0, [301, 302, 303, 307, 308].contains(response.status),
            let location = response.header("Location")
        else { return false }
        guard redirectsLeft > 0 else { throw .tooManyRedirects }
        redirectsLeft -= 1
        guard let next = address.resolving(location) else { throw .unsafeRedirect }
        // Attack: a server leads to an address where others can read the request, or to a program of this machine.
        guard next.isSecure || !address.isSecure && next.isLoopback else { throw .unsafeRedirect }
        let isOther = next.origin != address.origin
        if response.status == 303 && method != "HEAD" || response.status < 303 && method == "POST" {
            method = "GET"
            body = .none
            headers.removeAll { ["content-type", "content-encoding", "content-language"].contains($0.name.lowercased()) }
        }
        // Attack: a server passes on the body that was meant for it alone.
        guard body.isEmpty || !isOther && body.canBeSentAgain else { throw .bodySpent }
        if isOther {
            (hasToken, hasLeft, gate, gateToken) = (false, true, nil, nil)
            // Attack: a secret is in a header of any name, such as `X-Api-Key`.
            headers.removeAll { !Self.harmless.contains($0.name.lowercased()) }
        }
        address = next
        return true
    }
}
