// The client certificate of requests, and the signatures of its key. docs/formats/online-protocol.md, "Requests".

internal import COMSystem
internal import Glibc
internal import OMAgentProtocol
package import OMOnlineModel
internal import OMRecords
package import OMSecrets
internal import OMSystem
internal import Synchronization

/// A client certificate, and what signs with its key.
package struct RequestIdentity: Sendable {
    let chain: ClientChain
    let signer: any QuestionSigner

    package init(_ chain: ClientChain, signedBy signer: any QuestionSigner) { (self.chain, self.signer) = (chain, signer) }

    /// Starts to answer the questions of one helper for signatures, on a thread of its own.
    ///
    /// - Parameter life: How long, in milliseconds.
    /// - Returns: What the opening says, and the helper's end of the socket. The caller sends and closes it.
    func serve(for life: Int64 = Int64(RequestOpening.life)) throws(AgentError) -> (
        certificate: RequestOpening.Certificate, socket: Int32
    ) {
        var ends: [Int32] = [-1, -1]
        guard om_socket_pair(&ends) == 0 else { throw .io(errno) }
        let certificate = RequestOpening.Certificate(chain)
        let server = SignatureServer(self, certificate.id, ends[0])
        let failure = DetachedThread.start(stack: AgentServer.stack) { server.serve(for: life) }
        guard failure == 0 else {
            close(ends[1])
            throw .io(failure)
        }
        return (certificate, ends[1])
    }
}

/// The end of a helper's socket for signatures that has the key.
private final class SignatureServer: Sendable {
    private let identity: RequestIdentity
    private let id: [UInt8]
    private let channel: FrameChannel

    init(_ identity: RequestIdentity, _ id: [UInt8], _ socket: Int32) {
        (self.identity, self.id) = (identity, id)
        channel = FrameChannel(socket)
    }

    /// Answers until the helper is gone, its time is over, or it asks for what it may not have.
    func serve(for life: Int64) {
        var budget = SignatureBudget(requestsWith: identity.chain)
        let end = bootMilliseconds() + life
        while case let left = end - bootMilliseconds(), left > 0 {
            guard let purpose = try? purpose(within: Int(left)), let (name, content) = budget.take(purpose) else { return }
            guard
                (try? OnlineClient.sign(content, with: name, by: identity.signer, of: id, over: channel)) != nil
            else { return }
        }
    }

    /// Nil if the helper is gone.
    private func purpose(within time: Int) throws(ChannelError) -> SigningPurpose? {
        let received = try channel.receive(start: time, frame: AgentProtocol.frameTime)
        guard let frame = received else { return nil }
        guard frame.version == AgentProtocol.version, frame.kind == FrameKind.askSignature.rawValue else { throw .malformed }
        return try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
            do throws(MalformedBytes) { return try SigningPurpose(decoding: bytes, of: id) } catch { throw .malformed }
        }
    }
}

/// The helper's end: it asks for the signatures of handshakes.
package final class RequestSigner: Sendable {
    /// The most handshakes of one helper. A server may close each connection.
    static let mostHandshakes = 4
    /// How many a request can need: a GET is sent again if the connection was closed.
    private static let mostOfRequest = 2

    package let chain: ClientChain
    private let id: [UInt8]
    private let channel: FrameChannel
    private let left = Mutex(mostHandshakes)

    init(_ certificate: RequestOpening.Certificate, _ socket: Int32) {
        (chain, id) = (certificate.chain, certificate.id)
        channel = FrameChannel(socket)
    }

    /// Whether it can sign for another request.
    var canGoOn: Bool { left.withLock { $0 >= Self.mostOfRequest } }

    /// - Throws: ``OnlineFailure/unusableClientKey``, ``OnlineFailure/lockedClientKey``; ``OnlineFailure/helper`` if the other end is
    ///   gone.
    package func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes {
        do throws(SignFailure) {
            return try await OwnThread.run { () throws(SignFailure) in
                do throws(ChannelError) {
                    return try self.left.withLock { (left) throws(ChannelError) in
                        left -= 1
                        return try ReceivedSignature(
                            asking: purpose, of: self.id, over: self.channel, within: AgentProtocol.frameTime)
                    }
                } catch { throw SignFailure(nil) }
            }.get()
        } catch { throw .failed(error.cause ?? .helper) }
    }
}

/// A client certificate that goes with a session's requests, and the vault with its key.
struct ShownIdentity: Sendable {
    let chain: ClientChain
    let vault: VaultPaths
}

/// chain ‖ vault
extension ShownIdentity: WireValue {
    func write(to body: inout SecretBuffer) { body.write(chain, vault) }

    init(from wire: inout WireReader) throws(MalformedBytes) { self.init(chain: try wire.read(), vault: try wire.read()) }
}
