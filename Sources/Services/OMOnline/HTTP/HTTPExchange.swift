// The network use of one question: bounded in time and in bytes, and with every failure as an ``OnlineRefusal``.

internal import AsyncHTTPClient
internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import OMOnlineModel
internal import Synchronization

/// The HTTP client of one question, or of one remote on a server. Trust, deadline and connections end with it.
final class HTTPExchange: Sendable {
    /// One thread, however many processors there are. Each thread takes descriptors, and the helper has few. Names are
    /// not resolved on this thread.
    static let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// The addresses that http to `localhost` connects to, in this order. Attack: a resolver sends the name elsewhere,
    /// and gets the password in clear. So the name is not looked up. For https the system's resolver is asked, and the
    /// certificate decides.
    private static let loopback = ["127.0.0.1", "::1"]

    let client: HTTPClient
    /// One client for each address of ``loopback``, made at the first use: most questions need none.
    var local: [HTTPClient] {
        madeLocal.withLock { made in
            if made.isEmpty { made = makeLocal() }
            return made
        }
    }
    private let madeLocal = Mutex<[HTTPClient]>([])
    private let makeLocal: @Sendable () -> [HTTPClient]
    /// The client's certificate, with the settings of connections that show it.
    private let shown: (certificate: ShownCertificate, trust: TLSConfiguration)?
    /// What a server may say about certificates of the client. Nil if the service has none.
    private let chain: ClientChain?
    /// Nil if each request has its own limit only.
    private let end: ContinuousClock.Instant?
    private let keepsConnection: Bool
    private let connections = Connections()

    /// How many connections were established, TLS included. Data is sent only on these.
    private final class Connections: Sendable {
        let count = Atomic(0)
        /// Whether the last one is TLS 1.3.
        let isTLS13 = Atomic(false)
    }

    /// - Parameter signer: Signs with the private key of the service's certificate. Without one no certificate is shown.
    convenience init(_ service: OnlineService, _ signer: (any IdentitySigner)? = nil) throws(OnlineRefusal) {
        var shown: ShownCertificate?
        if let signer, let chain = service.chain { shown = try ShownCertificate(chain, of: service, signedBy: signer) }
        try self.init(
            trusting: service.trusted, connectingWithin: service.deadlines.connect, total: service.deadlines.total,
            showing: shown, of: service.chain)
    }

    /// - Parameters:
    ///   - pem: The only trusted certificates. If nil, the system's certificates are trusted.
    ///   - connect: Milliseconds until a connection is established.
    ///   - total: Milliseconds for all requests. If nil, each request needs a limit of its own.
    ///   - keepsConnection: Whether the next request uses the same connection. Then it may find it closed: the caller sends a
    ///     request again that changes nothing the second time.
    ///   - certificate: The client's certificate.
    ///   - chain: The same, also where it is not shown: a server may speak of it.
    init(
        trusting pem: [UInt8]?, connectingWithin connect: UInt32, total: UInt32?, keepsConnection: Bool = false,
        showing certificate: ShownCertificate? = nil, of chain: ClientChain? = nil
    ) throws(OnlineRefusal) {
        self.keepsConnection = keepsConnection
        self.chain = chain
        var trust = TLSConfiguration.makeClientConfiguration()
        trust.minimumTLSVersion = .tlsv12
        trust.certificateVerification = .fullVerification
        if let pem {
            guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem), !certificates.isEmpty else {
                throw .failed(.unusableTrust)
            }
            trust.trustRoots = .certificates(certificates)
        }
        shown = certificate.map { certificate in
            var own = trust
            certificate.configure(&own)
            return (certificate, own)
        }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: trust, redirectConfiguration: .disallow,
            timeout: .init(connect: .milliseconds(Int64(connect))))
        configuration.httpVersion = .http1Only
        // A failed attempt is an answer. Another attempt would only use up the time and hide the reason.
        configuration.connectionPool.retryConnectionEstablishment = false
        if keepsConnection { configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1 }
        // Each handshake with the certificate needs a signature, and a question has few.
        if shown != nil { configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1 }
        configuration.http1_1ConnectionDebugInitializer = { [connections] channel in
            connections.count.add(1, ordering: .sequentiallyConsistent)
            return channel.eventLoop.submit {
                let version = try? channel.pipeline.syncOperations.nioSSL_tlsVersion()
                connections.isTLS13.store(version == .tlsv13, ordering: .sequentiallyConsistent)
            }.flatMap { StatusCheck.add(to: channel) }
        }
        let common = configuration
        @Sendable func client(connectingTo address: String? = nil) -> HTTPClient {
            var configuration = common
            if let address { configuration.dnsOverride = [EndpointURL.localName: address] }
            return HTTPClient(eventLoopGroupProvider: .shared(Self.thread), configuration: configuration)
        }
        self.client = client()
        makeLocal = { Self.loopback.map { client(connectingTo: $0) } }
        end = total.map { ContinuousClock.now + .milliseconds(Int($0)) }
    }

    // The shutdown is not awaited: a name lookup that is still running would delay it.
    deinit { for client in [client] + madeLocal.withLock({ $0 }) { _ = client.shutdown() } }

    /// Sends one request and follows no redirect.
    ///
    /// - Parameters:
    ///   - limit: The most bytes of a body. A longer body is refused.
    ///   - readsErrors: Whether to read the body of an answer that is no success too.
    ///   - timeLimit: Milliseconds for this request. Used if less than the time left for the question.
    func fetch(
        _ request: HTTPClientRequest, limit: Int, readsErrors: Bool, timeLimit: UInt32? = nil
    ) async throws(OnlineRefusal) -> HTTPResponse {
        let end = deadline(timeLimit)
        var request = request
        guard let address = EndpointURL(reading: request.url) else { throw .failed(.unsafeAddress) }
        let settings = settingsWithCertificate(to: address), isShowing = settings != nil
        request.tlsConfiguration = settings
        // A login uses no connection again: the server could close it at that moment. One with a certificate does: each of its
        // handshakes needs a signature, and a question has few.
        if !keepsConnection, !isShowing { request.headers.replaceOrAdd(name: "Connection", value: "close") }
        if !request.headers.contains(name: "User-Agent") { request.headers.add(name: "User-Agent", value: "omvault") }
        guard !isShowing else {
            let answer = try await fetch(request, by: client, until: end, limit, true)
            if wasAskedForCertificate, CertificateRefusal.isIn(answer) {
                throw .failed(.certificateRefused, status: UInt16(answer.status))
            }
            return answer
        }
        guard !address.isSecure, address.host == EndpointURL.localName else {
            return try await fetch(request, by: client, until: end, limit, readsErrors)
        }
        var refused: OnlineRefusal?
        for client in local {
            do throws(OnlineRefusal) { return try await fetch(request, by: client, until: end, limit, readsErrors) } catch {
                // Nothing was sent, because no connection was established. If both addresses fail, the first error says more.
                guard error == .unreachable(.refused) || error == .unreachable(.noRoute) else { throw error }
                refused = refused ?? error
            }
        }
        throw refused ?? .unreachable(.refused)
    }

    /// Whether requests to the profile's own origins show a certificate, if the server asks for one.
    var showsCertificate: Bool { shown != nil }

    /// Whether a server asked for the client's certificate, and got it.
    var wasAskedForCertificate: Bool { shown?.certificate.wasShown ?? false }

    /// Whether the last connection is TLS 1.3.
    var isTLS13: Bool { connections.isTLS13.load(ordering: .sequentiallyConsistent) }

    /// The settings of a connection to the address that shows the certificate. Nil for every other connection.
    func settingsWithCertificate(to address: EndpointURL) -> TLSConfiguration? {
        shown.flatMap { $0.certificate.goes(to: address) ? $0.trust : nil }
    }

    /// What an error of a connection says about the client's certificate. Nil if it says nothing about it.
    ///
    /// - Parameter isShown: Whether the connection could show it.
    func certificateRefusal(_ error: any Error, isShown: Bool) -> OnlineRefusal? {
        if isShown, let refusal = shown?.certificate.refusal { return refusal }
        return chain.flatMap { CertificateRefusal.read(error, allowsTLS12: $0.allowsTLS12) }
    }

    /// The end of the question, or of `timeLimit` if that is earlier.
    private func deadline(_ timeLimit: UInt32?) -> ContinuousClock.Instant {
        guard let timeLimit else {
            guard let end else { preconditionFailure("a request has a limit") }
            return end
        }
        let own = ContinuousClock.now + .milliseconds(Int(timeLimit))
        return end.map { min($0, own) } ?? own
    }

    private func fetch(
        _ sent: HTTPClientRequest, by client: HTTPClient, until end: ContinuousClock.Instant, _ limit: Int,
        _ readsErrors: Bool
    ) async throws(OnlineRefusal) -> HTTPResponse {
        let before = connections.count.load(ordering: .sequentiallyConsistent)
        do {
            return try await withThrowingTaskGroup(of: HTTPResponse?.self) { group in
                group.addTask {
                    let left = ContinuousClock.now.duration(to: end)
                    let response = try await client.execute(sent, deadline: .now() + .nanoseconds(left.nanoseconds))
                    let status = Int(response.status.code)
                    var body: [UInt8] = []
                    if readsErrors || (200..<300).contains(status) {
                        body = Array(buffer: try await response.body.collect(upTo: limit))
                    }
                    return HTTPResponse(status: status, headers: response.headers, body: body)
                }
                // The library's own deadline covers only the head. A body could arrive byte by byte for ever.
                group.addTask {
                    try await Task.sleep(until: end, clock: .continuous)
                    return nil
                }
                defer { group.cancelAll() }
                guard let first = try await group.next(), let answer = first else {
                    throw OnlineRefusal.unreachable(.timedOut)
                }
                return answer
            }
        } catch {
            if Task.isCancelled { throw .failed(.cancelled) }
            if let refusal = certificateRefusal(error, isShown: sent.tlsConfiguration != nil) { throw refusal }
            let refusal = Self.refusal(error)
            // Attack: an attacker closes the connection after TLS is established, so that a password that was sent
            // counts as not sent. So `closed` is only for a connection that was never established. Closing that one
            // does no more than dropping its packets.
            // A connection that shows a certificate may be an earlier one.
            let now = connections.count.load(ordering: .sequentiallyConsistent)
            let isEstablished = now > before || sent.tlsConfiguration != nil && now > 0
            guard refusal == .failed(.brokenAnswer), !isEstablished, sent.url.hasPrefix("https://") else { throw refusal }
            throw .unreachable(.closed)
        }
    }

    static func refusal(_ error: any Error) -> OnlineRefusal {
        switch error {
        case let error as OnlineRefusal: error
        case let error as HTTPClientError: refusal(error)
        case let error as NIOConnectionError: refusal(error)
        case let error as NIOSSLError: refusal(error)
        case let error as NIOSSLExtraError
        where error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch:
            .untrusted(.name)
        case is NIOSSLExtraError: .untrusted(.handshake)
        // A handshake reports this error inside a `NIOSSLError`. Attack: an attacker spoils a record after the
        // handshake, so that a password that was sent counts as not sent. So this is a broken answer.
        case is BoringSSLError: .failed(.brokenAnswer)
        case let error as IOError: refusal(error)
        case ChannelError.connectTimeout: .unreachable(.timedOut)
        case is NIOTooManyBytesError: .failed(.answerTooLarge)
        case let error as HTTPParserError where error == .headerOverflow: .failed(.answerTooLarge)
        case is CancellationError: .failed(.cancelled)
        default: .failed(.brokenAnswer)
        }
    }

    private static func refusal(_ error: HTTPClientError) -> OnlineRefusal {
        let timeOuts: [HTTPClientError] = [
            .connectTimeout, .tlsHandshakeTimeout, .deadlineExceeded, .readTimeout, .writeTimeout,
            .getConnectionFromPoolTimeout, .cancelled,
        ]
        if timeOuts.contains(error) { return .unreachable(.timedOut) }
        return .failed(.brokenAnswer)
    }

    /// No address of the name accepted a connection. The last address that was tried gives the reason.
    private static func refusal(_ error: NIOConnectionError) -> OnlineRefusal {
        guard let last = error.connectionErrors.last?.error else { return .unreachable(.nameNotFound) }
        switch last {
        case let last as IOError: return refusal(last)
        case ChannelError.connectTimeout: return .unreachable(.timedOut)
        default: return .unreachable(.noRoute)
        }
    }

    private static func refusal(_ error: IOError) -> OnlineRefusal {
        switch error.errnoCode {
        case ECONNREFUSED: .unreachable(.refused)
        case ETIMEDOUT: .unreachable(.timedOut)
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EACCES, EPERM: .unreachable(.noRoute)
        default: .failed(.brokenAnswer)
        }
    }

    private static func refusal(_ error: NIOSSLError) -> OnlineRefusal {
        switch error {
        case .handshakeFailed(.sslError([.eofDuringHandshake])): .unreachable(.closed)
        // The library gives the reason as text only.
        case .handshakeFailed(let reason):
            .untrusted("\(reason)".contains("CERTIFICATE_VERIFY_FAILED") ? .certificate : .handshake)
        case .unableToValidateCertificate, .noCertificateToValidate: .untrusted(.certificate)
        case .cannotFindPeerIP, .cannotMatchULabel: .untrusted(.name)
        case .uncleanShutdown, .shutdownFailed, .readInInvalidTLSState: .failed(.brokenAnswer)
        default: .untrusted(.handshake)
        }
    }

    /// The meaning of a status that is no success, in every protocol. Each protocol adds its own rules.
    static func refusal(_ answer: HTTPResponse) -> OnlineRefusal {
        let status = UInt16(clamping: answer.status), wait = answer.retryAfter
        return switch answer.status {
        case 401: .rejected
        case 403, 423: .forbidden(.status)
        case 429: .failed(.tooManyRequests, status: status, retryAfter: wait)
        case 502, 504, 511, 521...524: .unreachable(.gateway)
        case 503 where !answer.saysRetryAfter: .unreachable(.gateway)
        case 500...599: .failed(.serverError, status: status, retryAfter: wait)
        case _ where answer.isRedirect: .failed(.redirected, status: status)
        default: .failed(.unexpectedAnswer, status: status)
        }
    }
}

extension OnlineRefusal {
    /// The refusal of a request that followed one with the password. Attack: the server closes its port after it got the
    /// password, so that a password that was sent counts as not sent. Such an error becomes a broken answer.
    func afterPassword(status: UInt16? = nil) -> OnlineRefusal {
        switch self {
        case .unreachable(.timedOut), .unreachable(.gateway): self
        case .unreachable, .untrusted: .failed(.brokenAnswer, status: status)
        default: self
        }
    }
}

extension Duration {
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
