// The caller of one request of a helper. Format: docs/formats/online-protocol.md, "Requests".

internal import OMAgentProtocol
package import OMOnlineModel
internal import OMSecrets
internal import OMSystem
internal import Synchronization

/// The caller of one request, as the sender sees it.
package final class RequestCaller: Sendable {
    private let server: RequestServer
    private let head: RequestHead
    /// How many bytes of the body are to come. Nil if no one knows.
    private let left: Mutex<(count: UInt64?, isOver: Bool)>
    /// Whether the head of the answer, and perhaps a piece, is kept back for what comes with it.
    private let isKeptBack = Atomic(false)

    init(_ server: RequestServer, _ head: RequestHead) {
        (self.server, self.head) = (server, head)
        let count: UInt64? = if case .counted(let count) = head.body { count } else { nil }
        left = Mutex((count, head.body == .none))
    }

    /// Whether the body was read to its end.
    var hasWholeBody: Bool { left.withLock { $0.isOver } }

    /// The next piece of the body. Empty at its end.
    ///
    /// - Throws: ``OnlineFailure/helper`` if the caller is gone, or gives another number of bytes than it said.
    package func next() async throws(OnlineRefusal) -> [UInt8] {
        guard !hasWholeBody else { return [] }
        do throws(RequestBroken) {
            return try await OwnThread.run { () throws(RequestBroken) in
                let piece = try self.receive()
                let left = try self.left.withLock { left throws(RequestBroken) in
                    if let count = left.count {
                        guard piece.isEmpty ? count == 0 : count >= UInt64(piece.count) else { throw RequestBroken() }
                        left.count = count - UInt64(piece.count)
                    }
                    left.isOver = piece.isEmpty
                    return left.count
                }
                // The end comes with the last byte: the network may not ask for more.
                guard !piece.isEmpty, left == 0 else { return piece }
                guard try self.receive().isEmpty else { throw RequestBroken() }
                self.left.withLock { $0.isOver = true }
                return piece
            }
        } catch { throw .failed(.helper) }
    }

    private func receive() throws(RequestBroken) -> [UInt8] {
        let frame = try server.receive(maximum: RequestHead.longestPiece)
        switch FrameKind(rawValue: frame.kind) {
        case .requestPiece where frame.body.count > 0:
            return frame.body.withBytes { bytes in bytes.withUnsafeBytes { [UInt8]($0) } }
        case .requestEnd where frame.body.count == 0: return []
        default: throw RequestBroken()
        }
    }

    /// Gives the head of the answer.
    package func take(status: UInt16, headers: [(name: String, value: String)]) async throws(OnlineRefusal) {
        let answer = AnswerHead(
            number: head.number, status: status, headers: headers.map { OnlineService.Header($0.name, $0.value) })
        // Attack: a server has a header that does not fit the frame.
        guard (100...999).contains(status), answer.headers.count <= RequestHead.mostHeaders,
            answer.headers.allSatisfy({ $0.name.utf8.count <= UInt16.max && $0.value.utf8.count <= UInt16.max }),
            answer.headers.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }) < 2 << 20
        else { throw .failed(.answerTooLarge) }
        var body = SecretBuffer()
        body.write(answer)
        try await keepBack(.answerHead, body)
    }

    /// Whether a part of the answer is kept back until ``hasPause()``.
    package var keepsBack: Bool { isKeptBack.load(ordering: .relaxed) }

    /// Sends what is kept back of the answer: no more of it is there now.
    package func hasPause() {
        guard isKeptBack.exchange(false, ordering: .relaxed) else { return }
        server.sendKeptBack()
    }

    /// Gives a piece of the body of the answer.
    package func take(_ piece: [UInt8]) async throws(OnlineRefusal) {
        var rest = piece[...]
        while !rest.isEmpty {
            let part = rest.prefix(RequestHead.longestPiece)
            rest = rest.dropFirst(part.count)
            var body = SecretBuffer(capacity: part.count)
            body.append(part.span)
            // Only what came with the head is kept back.
            if keepsBack { try await keepBack(.answerPiece, body) } else { try await send(.answerPiece, body) }
        }
    }

    /// - Returns: Whether another request may follow. What is left of the body of this one would be read as the next one.
    func finish() async throws(OnlineRefusal) -> Bool {
        let goesOn = hasWholeBody && server.canGoOn
        var body = SecretBuffer()
        body.write(goesOn)
        try await send(.answerEnd, body)
        return goesOn
    }

    func refuse(_ refusal: OnlineRefusal) async throws(OnlineRefusal) {
        var body = SecretBuffer()
        body.write(refusal)
        try await send(.answerRefused, body)
    }

    private func keepBack(_ kind: FrameKind, _ body: consuming SecretBuffer) async throws(OnlineRefusal) {
        do throws(RequestBroken) {
            let isKept = try await server.keepBack(kind, body)
            isKeptBack.store(isKept, ordering: .relaxed)
        } catch { throw .failed(.helper) }
    }

    private func send(_ kind: FrameKind, _ body: consuming SecretBuffer) async throws(OnlineRefusal) {
        do throws(RequestBroken) { try await server.send(kind, body) } catch { throw .failed(.helper) }
    }
}
