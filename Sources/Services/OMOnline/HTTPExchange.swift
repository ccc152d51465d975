// All that one question costs on the network: bounded in time and in bytes, and every way it can fail as one of ours.

internal import AsyncHTTPClient
internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import OMOnlineModel
internal import Synchronization

/// One client for one question, never used for another: trust, deadline and connections end with it.
final class HTTPExchange: Sendable {
    /// One thread, however many processors there are: each takes descriptors, of which the helper has few. Names are not
    /// resolved on it.
    private static let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// What http to `localhost` connects to, in this order. Attack: a resolver that sends the name elsewhere gets the
    /// password in clear. Over TLS a certificate decides, and the system's resolver is asked.
    private static let loopback = ["127.0.0.1", "::1"]

    private let client: HTTPClient
    /// One for each address of ``loopback``.
    private let local: [HTTPClient]
    private let end: ContinuousClock.Instant
    private let connections = Connections()

    /// How many connections were established, TLS included. Nothing is sent on any other.
    private final class Connections: Sendable {
        let count = Atomic(0)
    }

    init(_ service: OnlineService) throws(OnlineRefusal) {
        var trust = TLSConfiguration.makeClientConfiguration()
        trust.minimumTLSVersion = .tlsv12
        trust.certificateVerification = .fullVerification
        if let pem = service.trusted {
            guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem), !certificates.isEmpty else {
                throw .failed(.unusableTrust)
            }
            trust.trustRoots = .certificates(certificates)
        }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: trust, redirectConfiguration: .disallow,
            timeout: .init(connect: .milliseconds(Int64(service.deadlines.connect))))
        configuration.httpVersion = .http1Only
        // A failed attempt is an answer; tried again it would only use the time up and hide its reason.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { [connections] channel in
            connections.count.add(1, ordering: .sequentiallyConsistent)
            return StatusCheck.add(to: channel)
        }
        func client(connectingTo address: String? = nil) -> HTTPClient {
            var configuration = configuration
            if let address { configuration.dnsOverride = [EndpointURL.localName: address] }
            return HTTPClient(eventLoopGroupProvider: .shared(Self.thread), configuration: configuration)
        }
        self.client = client()
        local = Self.loopback.map { client(connectingTo: $0) }
        end = ContinuousClock.now + .milliseconds(Int(service.deadlines.total))
    }

    // Not waited for: a name that is being resolved would hold us up.
    deinit { for client in [client] + local { _ = client.shutdown() } }

    /// Sends one request and follows nothing.
    ///
    /// - Parameters:
    ///   - limit: bytes of the body that are taken; more is refused.
    ///   - readsErrors: whether the body of an answer that is no success is read too.
    ///   - timeLimit: milliseconds that it may take, where that is less than what is left for the whole question.
    func fetch(
        _ request: HTTPClientRequest, limit: Int, readsErrors: Bool, timeLimit: UInt32? = nil
    ) async throws(OnlineRefusal) -> HTTPResponse {
        let end = deadline(timeLimit)
        var request = request
        // A connection that is used again may be closed by the other end at that very moment.
        request.headers.replaceOrAdd(name: "Connection", value: "close")
        if !request.headers.contains(name: "User-Agent") { request.headers.add(name: "User-Agent", value: "omvault") }
        guard let address = EndpointURL(reading: request.url) else { throw .failed(.unsafeAddress) }
        guard !address.isSecure, address.host == EndpointURL.localName else {
            return try await fetch(request, by: client, until: end, limit, readsErrors)
        }
        var refused: OnlineRefusal?
        for client in local {
            do throws(OnlineRefusal) { return try await fetch(request, by: client, until: end, limit, readsErrors) } catch {
                // Nothing was sent where no connection stood; of two such answers the first one says more.
                guard error == .unreachable(.refused) || error == .unreachable(.noRoute) else { throw error }
                refused = refused ?? error
            }
        }
        throw refused ?? .unreachable(.refused)
    }

    /// The end of the whole question, or of somebody's patience.
    private func deadline(_ timeLimit: UInt32?) -> ContinuousClock.Instant {
        guard let timeLimit else { return end }
        return min(end, .now + .milliseconds(Int(timeLimit)))
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
                // The library's own deadline ends with the head: a body could drip for ever.
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
            let refusal = Self.refusal(error)
            // Attack: close the connection behind TLS, and a password that was sent would count as one that was not. So this
            // is only for a connection that never was established: closing that one does no more than dropping its packets.
            let isEstablished = connections.count.load(ordering: .sequentiallyConsistent) > before
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
        // Of the handshake it comes as a `NIOSSLError`. Attack: spoil a record behind it, and a password that was sent would
        // count as one that was not.
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

    /// No address of the name could be connected to. Of several reasons the last one tried counts.
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

    /// What a status means wherever it comes, when it is no success: the protocols tell the rest.
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

extension Duration {
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
