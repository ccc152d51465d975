// The small HTTP server that waits for a browser, on sockets that the caller bound.

internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import OMOnlineModel
internal import Synchronization

/// A request of a browser.
struct LoopbackRequest {
    let isGet: Bool
    /// As sent.
    let target: String
    /// The values of all `Host` fields.
    let hosts: [String]
    let hasBody: Bool
    /// The value of `Sec-Fetch-Mode`. Nil from a browser that does not send it.
    let mode: String?
    /// Of the socket that the request came to.
    let port: Int
    /// The user whose process sent it, as the kernel says. Nil if the kernel does not say it.
    let user: @Sendable () -> UInt32?
    var isPost = false
    /// The values of all `Origin` fields.
    var origins: [String] = []
    /// The value of `Sec-Fetch-Site`. Nil from a browser that does not send it.
    var site: String?
    /// Empty unless the server takes one.
    var body: [UInt8] = []
}

/// An answer to a browser.
struct LoopbackPage: Sendable {
    let status: HTTPResponseStatus
    let headers: HTTPHeaders
    let body: String

    /// The whole answer as bytes, for a connection whose request was not read.
    var bytes: String {
        let fields = headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        return "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n\(fields)\r\n\(body)"
    }
}

/// Answers one request of each connection, and waits for the one that counts. It owns the sockets, and closes them with that request
/// or with `close()`.
final class LoopbackServer<Answer: Sendable>: Sendable {
    /// The page for a request, and the result if the request counts.
    typealias Rule = @Sendable (LoopbackRequest) -> (page: LoopbackPage, result: Result<Answer, OnlineRefusal>?)

    /// The port of all sockets. Nil without sockets.
    let port: Int?
    private let channels: [any Channel]
    private let answers: AsyncStream<Result<Answer, OnlineRefusal>>

    /// - Parameters:
    ///   - sockets: Loopback sockets that are bound and listen. The server closes them, also if this throws.
    ///   - longest: The most bytes of a request.
    ///   - takesBody: Whether a request may have a body, which is read.
    /// - Throws: ``OnlineFailure/helper`` unless each socket can accept, and all have one port.
    init(
        _ sockets: [Int32], longest: Int = LoopbackLimits.request, takesBody: Bool = false, _ rule: @escaping Rule
    ) async throws(OnlineRefusal) {
        let (answers, continuation) = AsyncStream<Result<Answer, OnlineRefusal>>.makeStream()
        let open = OpenConnections(limit: LoopbackLimits.connections)
        let bootstrap = ServerBootstrap(group: HTTPExchange.thread)
            .childChannelInitializer { channel in
                open.add(channel)
                channel.eventLoop.scheduleTask(in: LoopbackLimits.time) { channel.close(promise: nil) }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(RequestLimit(longest))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(LoopbackHandler(rule, takesBody: takesBody) { continuation.yield($0) })
                }
            }
        var channels: [any Channel] = []
        var failed = false
        for socket in sockets {
            guard let channel = try? await bootstrap.withBoundSocket(socket).get() else {
                failed = true
                continue
            }
            channels.append(channel)
        }
        let ports = Set(channels.map { $0.localAddress?.port ?? 0 })
        let isLoopback = channels.allSatisfy { $0.localAddress.map(Self.isLoopback) ?? false }
        (self.channels, self.answers) = (channels, answers)
        port = ports.first
        guard !failed, ports.count <= 1, isLoopback else {
            close()
            throw .failed(.helper)
        }
    }

    deinit { close() }

    /// The result of the request that counts.
    func answer() async throws(OnlineRefusal) -> Answer {
        for await answer in answers {
            close()
            return try answer.get()
        }
        throw .failed(.cancelled)
    }

    func close() { for channel in channels { channel.close(promise: nil) } }

    private static func isLoopback(_ address: SocketAddress) -> Bool {
        guard let text = address.ipAddress else { return false }
        return text == "::1" || text.hasPrefix("127.")
    }
}

enum LoopbackLimits {
    /// The longest request: its line and its head.
    static let request = 8 << 10
    /// A connection is closed after this time.
    static let time = TimeAmount.seconds(10)
    /// So many connections may be open. Attack: a local program holds connections until no descriptor is left for the browser.
    static let connections = 16
}

/// The connections that are open, the oldest first.
private final class OpenConnections: Sendable {
    private let limit: Int
    private let channels = Mutex<[any Channel]>([])

    init(limit: Int) { self.limit = limit }

    /// Closes the oldest connection if there are too many.
    func add(_ channel: any Channel) {
        let oldest: (any Channel)? = channels.withLock { channels in
            channels.removeAll { !$0.isActive }
            channels.append(channel)
            return channels.count > limit ? channels.removeFirst() : nil
        }
        oldest?.close(promise: nil)
    }
}

/// Refuses a request with more bytes than the limit, before anything reads them.
private final class RequestLimit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var left: Int

    init(_ limit: Int) { left = limit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard left >= 0 else { return }
        let bytes = unwrapInboundIn(data)
        left -= bytes.readableBytes
        guard left < 0 else { return context.fireChannelRead(data) }
        let page = context.channel.allocator.buffer(string: RedirectPage.tooLong.page.bytes)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(page)).whenComplete { _ in channel.close(promise: nil) }
    }
}

/// Answers the one request of a connection.
private final class LoopbackHandler<Answer: Sendable>: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let rule: LoopbackServer<Answer>.Rule
    private let report: @Sendable (Result<Answer, OnlineRefusal>) -> Void
    private let takesBody: Bool
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var isAnswered = false

    init(
        _ rule: @escaping LoopbackServer<Answer>.Rule, takesBody: Bool,
        _ report: @escaping @Sendable (Result<Answer, OnlineRefusal>) -> Void
    ) {
        (self.rule, self.takesBody, self.report) = (rule, takesBody, report)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        // The limit of the whole request bounds it.
        case .body(let bytes) where takesBody: body += bytes.readableBytesView
        case .body: answer(context, hasBody: true)
        case .end: answer(context, hasBody: !body.isEmpty)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ context: ChannelHandlerContext, hasBody: Bool) {
        guard let head else { return context.close(promise: nil) }
        isAnswered = true
        let here = LoopbackPeer.End(context.localAddress), there = LoopbackPeer.End(context.remoteAddress)
        let (page, result) = rule(
            LoopbackRequest(
                isGet: head.method == .GET, target: head.uri, hosts: head.headers["Host"], hasBody: hasBody,
                mode: head.headers["Sec-Fetch-Mode"].first, port: here.port,
                user: { LoopbackPeer.user(from: there, to: here) }, isPost: head.method == .POST,
                origins: head.headers["Origin"], site: head.headers["Sec-Fetch-Site"].first, body: body))
        let response = HTTPResponseHead(version: .http1_1, status: page.status, headers: page.headers)
        context.write(wrapOutboundOut(.head(response)), promise: nil)
        context.write(
            wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(string: page.body)))), promise: nil)
        let channel = context.channel, report = report
        // The process may end with the request that counts. So the work goes on when the browser has its page.
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            if let result { report(result) }
            channel.close(promise: nil)
        }
    }
}

extension LoopbackPeer.End {
    fileprivate init(_ address: SocketAddress?) { self.init(address: address?.ipAddress ?? "", port: address?.port ?? 0) }
}
