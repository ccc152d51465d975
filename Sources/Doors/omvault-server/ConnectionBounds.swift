#if Server
// Bounds of one connection, and of all connections of one address. docs/formats/server-protocol.md, "Transport".

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTPTypes
internal import OMServer
internal import Synchronization

/// The open connections of each address.
final class AddressCounts: Sendable {
    private let most: Int
    private let counts = Mutex<[String: Int]>([:])

    init(most: Int) { self.most = most }

    /// - Returns: false if the address has as many as it may have.
    func open(_ address: String) -> Bool {
        counts.withLock { counts in
            guard counts[address, default: 0] < most else { return false }
            counts[address, default: 0] += 1
            return true
        }
    }

    func close(_ address: String) {
        counts.withLock { counts in
            let left = counts[address, default: 1] - 1
            counts[address] = left > 0 ? left : nil
        }
    }
}

/// Closes a connection that is one too many of its address, that is too old, or whose request takes too long to arrive.
///
/// Attack: a client sends a byte now and then, so that its connection is never idle.
final class ConnectionBounds: ChannelDuplexHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    static let longestConnection = TimeAmount.hours(1)
    static let longestRequest = TimeAmount.minutes(5)
    /// From the end of a request to the end of its answer: a wait of 55 s, and the time to take 4 MiB.
    static let longestAnswer = TimeAmount.minutes(5)

    private let counts: AddressCounts
    private var counted: String?
    private var age: Scheduled<Void>?
    private var request: Scheduled<Void>?
    private var answer: Scheduled<Void>?

    init(_ counts: AddressCounts) { self.counts = counts }

    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { begin(context) } }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard counted == nil else { return }
        let address = ClientNetwork.of(context.channel.remoteAddress?.ipAddress ?? "")
        guard counts.open(address) else { return context.close(promise: nil) }
        counted = address
        age = closing(context, in: Self.longestConnection)
        request = closing(context, in: Self.longestRequest)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: if request == nil { request = closing(context, in: Self.longestRequest) }
        case .body: break
        case .end:
            request?.cancel()
            request = nil
            answer?.cancel()
            answer = closing(context, in: Self.longestAnswer)
        }
        context.fireChannelRead(data)
    }

    /// Attack: a client asks for large files and reads none of them, so that they stay in memory.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        let written = promise ?? context.eventLoop.makePromise()
        let scheduled = answer
        written.futureResult.whenComplete { _ in scheduled?.cancel() }
        context.write(data, promise: written)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    private func end() {
        age?.cancel()
        request?.cancel()
        answer?.cancel()
        if let counted { counts.close(counted) }
        counted = nil
    }

    private func closing(_ context: ChannelHandlerContext, in time: TimeAmount) -> Scheduled<Void> {
        let channel = context.channel
        return context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
#endif
