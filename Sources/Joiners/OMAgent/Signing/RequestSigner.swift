// The helper's end of the proofs for its requests. Format: docs/formats/online-protocol.md, "Requests".

internal import OMAgentProtocol
package import OMOnlineModel
package import OMSecrets
internal import OMSystem

/// Asks the agent for proofs of the session's key, over a socket that came with the opening.
package final class RequestSigner: Sendable {
    private let channel: FrameChannel
    /// One question at a time.
    private let turn = Guarded(())

    /// - Parameter socket: It is closed with this object.
    init(_ socket: Int32) { channel = FrameChannel(socket) }

    /// - Throws: ``OnlineFailure/helper`` if there is no signature: the session may have ended.
    package func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes {
        do throws(SignFailure) {
            return try await OwnThread.run { () throws(SignFailure) in
                let received: ReceivedSignature
                do throws(ChannelError) {
                    received = try self.turn.withLock { _ throws(ChannelError) in
                        try ReceivedSignature.ask(
                            purpose, of: SigningSocket.id, over: self.channel, within: AgentProtocol.frameTime)
                    }
                } catch { throw SignFailure(nil) }
                return try received.get()
            }
        } catch { throw .failed(.helper) }
    }
}
