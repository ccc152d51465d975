internal import OMAgentProtocol

/// This process's end of the socket of a requests' helper, which the agent hands to a client.
final class Requester: Sendable {
    /// Names the access token that the helper adds, without telling it.
    let mark: [UInt8]
    let kind: TokenKind
    private let channel: FrameChannel

    var descriptor: Int32 { channel.descriptor }

    init(_ mark: [UInt8], _ kind: TokenKind, _ channel: consuming FrameChannel) {
        (self.mark, self.kind) = (mark, kind)
        self.channel = channel
    }
}
