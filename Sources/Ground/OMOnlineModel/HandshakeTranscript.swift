/// What a client signs in TLS 1.2 (RFC 5246, 7.4.8): all messages of the handshake up to its own key exchange.
///
/// Attack: a server, or a helper that it took over, gets a signature of other bytes. A text counts only if it is whole messages in the
/// order of a handshake: a ClientHello first, and the client's certificate and its key exchange last.
package enum HandshakeTranscript {
    /// The types of the messages in their order, and whether each must be there.
    private static let order: [(type: UInt8, isNeeded: Bool)] = [
        (1, true), (2, true), (11, true), (22, false), (12, false), (13, true), (14, true), (11, true), (16, true),
    ]

    package static func isOne(_ text: [UInt8]) -> Bool {
        var (place, rest) = (0, text[...])
        while rest.count >= 4 {
            let type = rest[rest.startIndex]
            let count = rest.dropFirst().prefix(3).reduce(0) { $0 << 8 | Int($1) }
            guard rest.count - 4 >= count else { return false }
            while place < order.count, order[place].type != type {
                guard !order[place].isNeeded else { return false }
                place += 1
            }
            guard place < order.count else { return false }
            place += 1
            rest = rest.dropFirst(4 + count)
        }
        return rest.isEmpty && place == order.count
    }
}
