// The small HTTP server that waits for the browser's answer, on sockets that the caller bound.

internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import OMOnlineModel
internal import Synchronization

/// Waits for one answer. It owns the sockets, and closes them with the answer or with `close()`.
final class RedirectListener: Sendable {
    /// The longest request: its line and its head.
    static let longestRequest = 8 << 10
    /// A connection is closed after this time.
    private static let longestConnection = TimeAmount.seconds(10)
    /// So many connections may be open. Attack: a local program holds connections until no descriptor is left for the browser.
    private static let maximumConnections = 16

    /// The port of all sockets. Nil without sockets.
    let port: Int?
    private let channels: [any Channel]
    private let answers: AsyncStream<Result<RedirectAnswer, OnlineRefusal>>

    /// - Parameter sockets: Loopback sockets that are bound and listen. The listener closes them, also if this throws.
    /// - Throws: ``OnlineFailure/helper`` unless each socket can accept, and all have one port.
    init(_ sockets: [Int32], _ rules: RedirectRules) async throws(OnlineRefusal) {
        let (answers, continuation) = AsyncStream<Result<RedirectAnswer, OnlineRefusal>>.makeStream()
        let open = OpenConnections(limit: Self.maximumConnections)
        let bootstrap = ServerBootstrap(group: HTTPExchange.thread)
            .childChannelInitializer { channel in
                open.add(channel)
                channel.eventLoop.scheduleTask(in: Self.longestConnection) { channel.close(promise: nil) }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(RequestLimit(Self.longestRequest))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(RedirectHandler(rules) { continuation.yield($0) })
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

    /// The answer of this login.
    func answer() async throws(OnlineRefusal) -> RedirectAnswer {
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
        let page = context.channel.allocator.buffer(string: RedirectPage.tooLong.bytes)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(page)).whenComplete { _ in channel.close(promise: nil) }
    }
}

/// Answers the one request of a connection.
private final class RedirectHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let rules: RedirectRules
    private let report: @Sendable (Result<RedirectAnswer, OnlineRefusal>) -> Void
    private var head: HTTPRequestHead?
    private var isAnswered = false

    init(_ rules: RedirectRules, _ report: @escaping @Sendable (Result<RedirectAnswer, OnlineRefusal>) -> Void) {
        (self.rules, self.report) = (rules, report)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: answer(context, hasBody: true)
        case .end: answer(context, hasBody: false)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ context: ChannelHandlerContext, hasBody: Bool) {
        guard let head else { return context.close(promise: nil) }
        isAnswered = true
        let outcome = rules.request(
            isGet: head.method == .GET, target: head.uri, hosts: head.headers["Host"], hasBody: hasBody,
            mode: head.headers["Sec-Fetch-Mode"].first)
        let (page, result): (RedirectPage, Result<RedirectAnswer, OnlineRefusal>?) =
            switch outcome {
            case .elsewhere: (.notFound, nil)
            case .wrong: (.wrong, nil)
            case .tooMany: (.wrong, .failure(.failed(.wrongAnswers)))
            case .answer(.code(let code)): (.accepted, .success(.code(code)))
            case .answer(let refused): (.refused, .success(refused))
            }
        let response = HTTPResponseHead(version: .http1_1, status: page.status, headers: page.headers)
        context.write(wrapOutboundOut(.head(response)), promise: nil)
        context.write(
            wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(string: page.body)))), promise: nil)
        let channel = context.channel, report = report
        // The process may end with the login. So the login goes on when the browser has its page.
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            if let result { report(result) }
            channel.close(promise: nil)
        }
    }
}
