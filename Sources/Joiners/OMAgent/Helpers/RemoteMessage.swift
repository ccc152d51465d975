// Messages between a remote's helper and the process that started it. Format: docs/formats/sync.md, "The folder's helper".

internal import OMAgentProtocol
internal import OMSecrets

/// Messages in parts, each in a frame. Frames are in locked memory, of which a process has little. So no frame is long, and the
/// messages, which are mostly no secrets, are in ordinary memory.
enum RemoteMessage {
    /// The bytes of a part.
    static let partCount = 256 << 10

    /// - Parameter end: In milliseconds since boot.
    static func send(
        _ message: [UInt8], _ kind: FrameKind, over channel: borrowing FrameChannel, until end: Int64
    ) throws(ChannelError) {
        var rest = message[...]
        repeat {
            let part = rest.prefix(partCount)
            rest = rest.dropFirst(partCount)
            var body = SecretBuffer(capacity: 1 + part.count)
            body.append(rest.isEmpty ? 0 : 1)
            body.append(Array(part).span)
            try channel.send(kind, body, within: milliseconds(until: end))
        } while !rest.isEmpty
    }

    /// Sends a message with a secret, which has one part and stays in locked memory.
    static func send(
        secret message: borrowing SecretBytes, _ kind: FrameKind, over channel: borrowing FrameChannel, until end: Int64
    ) throws(ChannelError) {
        precondition(message.count <= partCount, "one part")
        var body = SecretBuffer(capacity: 1 + message.count)
        body.append(0)
        body.append(message)
        try channel.send(kind, body, within: milliseconds(until: end))
    }

    /// - Parameter maximum: The most bytes of the message.
    /// - Returns: nil if the other end closed the socket before a message began.
    static func receive(
        _ kind: FrameKind, upTo maximum: Int, from channel: borrowing FrameChannel, until end: Int64
    ) throws(ChannelError) -> [UInt8]? {
        var message: [UInt8] = []
        while true {
            // Attack: the other end sends parts without end.
            let most = 1 + min(partCount, maximum - message.count)
            guard let frame = try part(kind, upTo: most, from: channel, until: end) else {
                guard message.isEmpty else { throw .ended }
                return nil
            }
            let part = frame.body.withBytes { (bytes: Span<UInt8>) in bytes.withUnsafeBufferPointer { Array($0) } }
            switch part.first {
            case 0: return message + part.dropFirst()
            case 1 where part.count == 1 + partCount: message += part.dropFirst()
            default: throw .malformed
            }
        }
    }

    /// Receives a message of one part, which stays in locked memory.
    static func receiveSecret(
        _ kind: FrameKind, upTo maximum: Int, from channel: borrowing FrameChannel, until end: Int64
    ) throws(ChannelError) -> SecretBytes {
        guard let frame = try part(kind, upTo: 1 + min(partCount, maximum), from: channel, until: end) else { throw .ended }
        return try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
            guard bytes.count > 0, bytes[0] == 0 else { throw .malformed }
            return SecretBytes(copying: bytes.extracting(1..<bytes.count))
        }
    }

    private static func part(
        _ kind: FrameKind, upTo most: Int, from channel: borrowing FrameChannel, until end: Int64
    ) throws(ChannelError) -> Frame? {
        let left = milliseconds(until: end)
        guard let frame = try channel.receive(start: left, frame: left, maximum: most) else { return nil }
        guard frame.version == AgentProtocol.version, frame.kind == kind.rawValue else { throw .malformed }
        return frame
    }

    private static func milliseconds(until end: Int64) -> Int { Int(max(1, end - bootMilliseconds())) }
}
