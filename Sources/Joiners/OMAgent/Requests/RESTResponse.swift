public import OMAuth
public import OMOnlineModel
public import OMSecrets
internal import OMSystem

/// A server's answer to a request, whatever its status. Its body comes piece by piece, once.
///
/// If it is not read to its end, the helper and its connection end with this object.
public final class RESTResponse: Sendable {
    public let status: Int
    public let headers: [OnlineService.Header]
    /// The address that answered: the last one, if redirects were followed.
    public let address: ServerURL

    private let channel: RequestChannel
    private let state: Guarded<State>
    private let atEnd: @Sendable (RequestChannel) -> Void

    private struct State: ~Copyable {
        /// The start of the body, if it was read already.
        var start = SecretBuffer(capacity: 0)
        var isAtEnd = false
        var isReleased = false
    }

    init(
        _ head: AnswerHead, from address: ServerURL, _ channel: RequestChannel,
        atEnd: @escaping @Sendable (RequestChannel) -> Void
    ) {
        (status, headers) = (Int(head.status), head.headers)
        (self.address, self.channel, self.atEnd) = (address, channel, atEnd)
        state = Guarded(State())
    }

    deinit { if !state.withLock({ $0.isAtEnd }) { channel.cancel() } }

    /// The value of the first header with this name.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The next piece of the body, at most 1 MiB, and nil at its end. Cancelling the task ends the request; after the end it has
    /// no effect.
    public func nextPiece() async throws(RESTError) -> SecretBytes? {
        try await OwnThread.run({ () throws(RESTError) in try self.nextPieceBlocking() }) { [channel, state] in
            if !state.withLock({ $0.isAtEnd }) { channel.cancel() }
        }
    }

    /// The same for a caller that may block.
    public func nextPieceBlocking() throws(RESTError) -> SecretBytes? {
        if let start = takeStart() { return start }
        guard !state.withLock({ $0.isAtEnd }) else { return nil }
        if let piece = try channel.nextPiece() { return piece }
        let isFirst = state.withLock { state in
            defer { (state.isAtEnd, state.isReleased) = (true, true) }
            return !state.isReleased
        }
        if isFirst { atEnd(channel) }
        return nil
    }

    /// The whole body.
    ///
    /// - Parameter most: The most bytes. A longer body is refused.
    /// - Throws: ``OnlineFailure/answerTooLarge`` too.
    public func wholeBody(upTo most: Int) async throws(RESTError) -> SecretBytes {
        var whole = SecretBuffer()
        while let piece = try await nextPiece() { try Self.add(piece, to: &whole, most) }
        return whole.finish()
    }

    /// The same for a caller that may block.
    public func wholeBodyBlocking(upTo most: Int) throws(RESTError) -> SecretBytes {
        var whole = SecretBuffer()
        while let piece = try nextPieceBlocking() { try Self.add(piece, to: &whole, most) }
        return whole.finish()
    }

    private static func add(
        _ piece: borrowing SecretBytes, to whole: inout SecretBuffer, _ most: Int
    ) throws(RESTError) {
        guard whole.count + piece.count <= most else { throw .failed(.failed(.answerTooLarge)) }
        whole.append(piece)
    }

    private func takeStart() -> SecretBytes? {
        state.withLock { state in
            guard state.start.count > 0 else { return nil }
            var start = SecretBuffer(capacity: 0)
            swap(&start, &state.start)
            return start.finish()
        }
    }

    // MARK: - What it says about the token

    /// The scopes that the token lacks, if the server says that (RFC 6750, 3.1). Nil if it says nothing of the kind.
    public var insufficientScope: String? {
        guard challenges.contains(where: { $0.contains("\"insufficient_scope\"") || $0.contains("=insufficient_scope") }) else {
            return nil
        }
        for challenge in challenges {
            guard let start = challenge.firstRange(of: "scope=\"")?.upperBound else { continue }
            return String(challenge[start...].prefix { $0 != "\"" })
        }
        return ""
    }

    /// When to try again, in seconds. Nil if the server gives no number.
    public var retryAfter: UInt32? { header("Retry-After").flatMap { UInt32($0) } }

    /// The challenge of a gate. Nil for every other answer.
    var gateChallenge: GateChallenge? {
        status == 401 ? challenges.lazy.compactMap { GateChallenge($0) }.first : nil
    }

    private var challenges: [String] { headers.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value) }

    /// The most bytes of a body in which a server's word about the token is looked for.
    private static let longestError = 64 << 10

    /// Whether the server refuses the access token: 401, or `invalid_token` with 400 or 403, in a header or in the body. The start of
    /// the body is kept for the reader.
    func refusesToken() throws(RESTError) -> Bool {
        guard status == 400 || status == 403 else { return status == 401 }
        if challenges.contains(where: { $0.contains("invalid_token") }) { return true }
        while state.withLock({ $0.start.count }) < Self.longestError {
            guard let piece = try channel.nextPiece() else {
                let isFirst = state.withLock { state in
                    defer { (state.isAtEnd, state.isReleased) = (true, true) }
                    return !state.isReleased
                }
                if isFirst { atEnd(channel) }
                break
            }
            state.withLock { $0.start.append(piece) }
        }
        return state.withLock { state in
            state.start.withBytes { bytes in
                let word = Array("invalid_token".utf8)
                guard bytes.count >= word.count else { return false }
                return (0...bytes.count - word.count).contains { start in
                    word.indices.allSatisfy { bytes[start + $0] == word[$0] }
                }
            }
        }
    }
}
