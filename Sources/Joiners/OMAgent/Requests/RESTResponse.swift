internal import OMAgentProtocol
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
        /// Why no more of the body comes.
        var failure: RESTError?
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
        if let failure = state.withLock({ $0.failure }) { throw failure }
        guard !state.withLock({ $0.isAtEnd }) else { return nil }
        if let piece = try channel.nextPiece() { return piece }
        reachEnd()
        return nil
    }

    private func reachEnd() {
        let isFirst = state.withLock { state in
            defer { (state.isAtEnd, state.isReleased) = (true, true) }
            return !state.isReleased
        }
        if isFirst { atEnd(channel) }
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

    /// Whether the server wants a nonce of its own in the proof of the key, and gives one (RFC 9449, 9).
    var asksForNonce: Bool {
        status == 401 && header("DPoP-Nonce") != nil && challenges.contains { $0.contains("use_dpop_nonce") }
    }

    /// When to try again, in seconds. Nil if the server gives no number.
    public var retryAfter: UInt32? { header("Retry-After").flatMap { UInt32($0) } }

    /// The challenge of a gate. Nil for every other answer.
    var gateChallenge: GateChallenge? {
        status == 401 ? challenges.lazy.compactMap { GateChallenge($0) }.first : nil
    }

    private var challenges: [String] { headers.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value) }

    /// The most bytes of a body that are read before the caller asks for them.
    private static let longestStart = 64 << 10
    /// How long such bytes are waited for, in milliseconds. The caller waits meanwhile.
    private static let longestLook: Int64 = 2_000

    /// Whether the server refuses the access token: 401, or `invalid_token` with 400 or 403, in a header or in the body. The start of
    /// the body is kept for the reader.
    func refusesToken() throws(RESTError) -> Bool {
        guard status == 400 || status == 403 else { return status == 401 }
        if challenges.contains(where: { $0.contains("invalid_token") }) { return true }
        try readStart()
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

    /// Keeps a short body, and ends the helper then: the agent starts only a few. A longer body still needs its helper.
    func endHelper() throws(RESTError) {
        try readStart()
        if state.withLock({ $0.isAtEnd }) { channel.cancel() }
    }

    /// Reads the start of the body for the reader. An answer that stops or breaks is no error here: the reader gets the bytes first.
    private func readStart() throws(RESTError) {
        let end = bootMilliseconds() + Self.longestLook
        while state.withLock({ !$0.isAtEnd && $0.failure == nil && $0.start.count < Self.longestStart }),
            channel.hasNext(until: end)
        {
            do throws(RESTError) {
                guard let piece = try channel.nextPiece() else { return reachEnd() }
                state.withLock { $0.start.append(piece) }
            } catch {
                guard error != .cancelled else { throw error }
                state.withLock { $0.failure = error }
            }
        }
    }
}
