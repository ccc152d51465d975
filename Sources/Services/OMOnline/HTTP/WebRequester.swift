// Requests of a user to one origin: heads and bodies of any length go through piece by piece.

internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
package import OMOnlineModel
package import OMSecrets
internal import Synchronization

/// The requests of one helper process to one origin, each with the same access token, over one connection.
///
/// It follows no redirect, keeps no cookie, reads no variable of a proxy, and offers no compression.
package final class WebRequester: Sendable {
    /// A request without its body.
    package struct Request: Sendable {
        package let method: String
        /// Path and query.
        package let target: String
        package let headers: [(name: String, value: String)]
        package let body: Body
        /// Milliseconds for the request with its answer.
        package let limit: UInt32

        package enum Body: Hashable, Sendable {
            case none
            case counted(UInt64)
            case endless
        }

        package init(
            _ method: String, _ target: String, headers: [(name: String, value: String)], body: Body, limit: UInt32
        ) {
            (self.method, self.target, self.headers, self.body, self.limit) = (method, target, headers, body, limit)
        }
    }

    /// The caller's end of one request.
    package protocol Caller: Sendable {
        /// The next piece of the body. Empty at its end.
        func next() async throws(OnlineRefusal) -> [UInt8]
        /// The head of the answer has come.
        func take(status: UInt16, headers: [(name: String, value: String)]) async throws(OnlineRefusal)
        /// A piece of the answer's body has come.
        func take(_ piece: [UInt8]) async throws(OnlineRefusal)
        /// Whether it keeps a part of the answer back for what comes with it.
        var keepsBack: Bool { get }
        /// No more of the answer is at hand now, so nothing may be kept back. It does not wait.
        func hasPause()
    }

    /// The most header lines of an answer. The reader of HTTP has the same limit.
    package static let mostHeaders = 256
    /// How long a body may stand still.
    package static let usualStall = Duration.seconds(30)

    private let origin: EndpointURL
    private let exchange: HTTPExchange
    private let stall: Duration
    private let scheme: String
    private let token: SecretBytes
    private let proof: KeyProof?
    private let hasConnection = Atomic(false)

    /// - Parameters:
    ///   - origin: https, or http within this machine, without a path.
    ///   - scheme: The word before the token in the header `Authorization`.
    ///   - token: Empty for none.
    ///   - pem: The only trusted certificates. If nil, the system's certificates are trusted.
    ///   - chain, signer: The client's certificate, and what signs with its key. Nil for none.
    ///   - prover: Signs with the key to which the token is bound. Nil for a token that is bound to none.
    ///   - stall: How long the body of an answer may stand still.
    package init(
        _ origin: String, scheme: String, token: consuming SecretBytes, trusting pem: [UInt8]?, deadlines: OnlineDeadlines,
        showing chain: ClientChain? = nil, signedBy signer: (any IdentitySigner)? = nil,
        provedBy prover: (any IdentitySigner)? = nil, stall: Duration = usualStall
    ) throws(OnlineRefusal) {
        let address = try EndpointURL(origin)
        guard address.path == "/", address.query == nil else { throw .failed(.unsafeAddress) }
        // Attack: a server gives a token with a line break in it, and so adds a header.
        guard token.withBytes({ bytes in bytes.indices.allSatisfy { (0x21...0x7E).contains(bytes[$0]) } }) else {
            throw .failed(.unusableSession)
        }
        (self.origin, self.stall) = (address, stall)
        self.scheme = scheme
        self.token = token
        proof = prover.map { KeyProof($0) }
        var shown: ShownCertificate?
        if let chain, let signer { shown = try ShownCertificate(chain, at: [address], signedBy: signer) }
        exchange = try HTTPExchange(
            trusting: pem, connectingWithin: deadlines.connect, total: deadlines.total, keepsConnection: true, showing: shown,
            of: chain)
    }

    /// The TCP port of an origin. Nil if it is no address.
    package static func port(of origin: String) -> UInt16? { EndpointURL(reading: origin).map { UInt16($0.port) } }

    /// Sends one request, and hands the answer to the caller as it comes.
    package func send(_ request: Request, for caller: some Caller) async throws(OnlineRefusal) {
        let (sent, address) = try head(of: request)
        let end = ContinuousClock.now + .milliseconds(Int(request.limit))
        let progress = RequestProgress()
        let wasConnected = hasConnection.load(ordering: .relaxed)
        do throws(OnlineRefusal) {
            try await run(sent, request.body, at: address, until: end, noting: progress, for: caller)
        } catch {
            // The server may have closed the connection while it was idle. Only a request that changes nothing is sent again.
            let changesNothing = ["GET", "HEAD"].contains(request.method) && request.body == .none
            guard wasConnected, changesNothing, error == .failed(.brokenAnswer), !progress.hasHead else { throw error }
            try await run(sent, request.body, at: address, until: end, noting: progress, for: caller)
        }
        hasConnection.store(true, ordering: .relaxed)
    }

    private func head(of request: Request) throws(OnlineRefusal) -> (HTTPClientRequest, EndpointURL) {
        // Attack: a target such as "@b.example/" or ".b.example/" makes another server of the origin before it.
        guard request.target.hasPrefix("/"), let address = EndpointURL(reading: "\(origin.origin)\(request.target)"),
            address.hasOrigin(of: origin)
        else { throw .failed(.unsafeAddress) }
        guard Self.isToken(request.method), request.method != "CONNECT" else { throw .failed(.unusableHeaders) }
        var sent = HTTPClientRequest(url: address.text)
        sent.method = HTTPMethod(rawValue: request.method)
        for header in request.headers {
            guard Self.isToken(header.name), Self.isValue(header.value) else { throw .failed(.unusableHeaders) }
            sent.headers.add(name: header.name, value: header.value)
        }
        if token.count > 0 {
            // The caller's own header would be a second one.
            guard !sent.headers.contains(name: "Authorization") else { throw .failed(.unusableHeaders) }
            sent.headers.add(
                name: "Authorization",
                value: token.withBytes { bytes in "\(scheme) " + String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
                })
        }
        if !sent.headers.contains(name: "User-Agent") { sent.headers.add(name: "User-Agent", value: "omvault") }
        if !sent.headers.contains(name: "Accept") { sent.headers.add(name: "Accept", value: "*/*") }
        return (sent, address)
    }

    private static func isToken(_ text: String) -> Bool {
        let marks = "!#$%&'*+-.^_`|~".utf8
        return (1...256).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: marks.contains(byte)
                }
            }
    }

    private static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    private func run(
        _ head: HTTPClientRequest, _ body: Request.Body, at address: EndpointURL, until end: ContinuousClock.Instant,
        noting progress: RequestProgress, for caller: some Caller
    ) async throws(OnlineRefusal) {
        var head = head
        // One proof counts once, so each try has another one.
        if let proof {
            // The client sends the request again after a 401, with the nonce of that answer. It is no header of the request.
            let nonce = KeyProof.nonce(head.headers), access = token.withBytes { bytes in bytes.indices.map { bytes[$0] } }
            head.headers.remove(name: KeyProof.nonceHeader)
            try await proof.sign(&head, access: access, nonce: nonce)
        }
        let isShown = exchange.settingsWithCertificate(to: address)
        defer { progress.stopBody() }
        do {
            // The HTTP library asks for no piece of an empty body. Its end would be read as the next request.
            if body == .counted(0) { _ = try await caller.next() }
            let request = try HTTPClient.Request(
                url: head.url, method: head.method, headers: head.headers, body: Self.content(body, from: caller, progress),
                tlsConfiguration: isShown)
            try await exchange.exchange(
                request, at: address, until: end,
                AnswerDelegate(caller, progress) { [proof, url = head.url] headers in await proof?.note(headers, of: url) },
                stall)
        } catch {
            throw exchange.certificateRefusal(error, isShown: isShown != nil) ?? HTTPExchange.refusal(error)
        }
    }

    /// The body of a request, fetched from the caller piece by piece when the connection takes more.
    private static func content(
        _ body: Request.Body, from caller: some Caller, _ progress: RequestProgress
    ) -> HTTPClient.Body? {
        let length: Int64?
        switch body {
        case .none: return nil
        case .counted(let count): length = Int64(clamping: count)
        case .endless: length = nil
        }
        return .stream(contentLength: length) { writer in
            let promise = NetworkExecutor.only.loop.makePromise(of: Void.self)
            let task = Task(executorPreference: NetworkExecutor.only) {
                do {
                    while true {
                        try Task.checkCancellation()
                        let piece = try await progress.pausing { try await caller.next() }
                        if piece.isEmpty { break }
                        try await writer.write(.byteBuffer(ByteBuffer(bytes: piece))).get()
                    }
                    promise.succeed()
                } catch { promise.fail(error) }
            }
            progress.sends(task)
            return promise.futureResult
        }
    }
}
