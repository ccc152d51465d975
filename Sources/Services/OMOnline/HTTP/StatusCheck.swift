// A check between the reader of HTTP and the library that trusts this reader.

internal import NIOCore
internal import NIOHTTP1

/// Ends a connection whose answer has a status that HTTP does not have.
///
/// Attack: a server answers "HTTP/1.1 000" with content. The reader accepts it. The library takes everything below 200
/// for an announcement, and ends the process when content follows. So the connection is closed before the library sees it.
final class StatusCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private struct BadStatus: Error {}

    private var isEnded = false

    /// Call this after the channel has its other handlers and before a request is sent.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let reader = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(StatusCheck(), position: .after(reader))
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnded else { return }
        if case .head(let head) = unwrapInboundIn(data), !(100...999).contains(head.status.code) {
            isEnded = true
            context.fireErrorCaught(BadStatus())
            return context.close(promise: nil)
        }
        context.fireChannelRead(data)
    }
}
