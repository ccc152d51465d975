// The helper's end of the signatures for its requests. Format: docs/formats/online-protocol.md, "Requests".

internal import OMAgentProtocol
package import OMOnlineModel
package import OMSecrets
internal import OMSystem

/// Asks for signatures of handshakes and for proofs, over a socket that came with the opening.
package final class RequestSigner: Sendable {
    /// The most handshakes of one helper. A server may close each connection.
    static let mostHandshakes = 4
    /// How many a request can need: a GET is sent again if the connection was closed.
    private static let mostOfRequest = 2

    /// The client's certificate. Nil: none is shown.
    package let chain: ClientChain?
    private let channel: FrameChannel
    /// How long it waits for a signature, in milliseconds.
    private let time: Int
    /// One question at a time.
    private let state = Guarded((handshakes: mostHandshakes, isOutOfStep: false))

    /// - Parameter socket: It is closed with this object.
    init(_ socket: Int32, showing chain: ClientChain?, within time: Int = AgentProtocol.frameTime) {
        channel = FrameChannel(socket)
        (self.chain, self.time) = (chain, time)
    }

    /// Whether it can sign for another request. Not while it waits for a signature, which may come too late. It does not wait.
    var canGoOn: Bool { state.withLockIfFree { !$0.isOutOfStep && $0.handshakes >= Self.mostOfRequest } ?? false }

    /// - Throws: For a handshake ``OnlineFailure/unusableClientKey`` or ``OnlineFailure/lockedClientKey``. ``OnlineFailure/helper`` if
    ///   the other end is gone, or gives no proof: the session may have ended.
    package func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes {
        let isHandshake = if case .handshake = purpose { true } else { false }
        do throws(SignFailure) {
            return try await OwnThread.run { () throws(SignFailure) in
                let received: ReceivedSignature
                do throws(ChannelError) {
                    received = try self.state.withLock { state throws(ChannelError) in
                        guard !state.isOutOfStep else { throw .ended }
                        if isHandshake { state.handshakes -= 1 }
                        // Accident: a signature comes after its time, and would be the answer to the next question. So there is
                        // no next one.
                        state.isOutOfStep = true
                        let received = try ReceivedSignature.ask(
                            purpose, of: SigningSocket.id, over: self.channel, within: self.time)
                        state.isOutOfStep = false
                        return received
                    }
                } catch { throw SignFailure(nil) }
                return try received.get()
            }
        } catch { throw .failed(isHandshake ? error.cause ?? .helper : .helper) }
    }
}
