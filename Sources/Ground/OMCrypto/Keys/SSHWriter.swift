internal import OMSecrets

/// Writes SSH's binary encoding (RFC 4251 section 5).
struct SSHWriter: ~Copyable {
    private var buffer = SecretBuffer()

    var count: Int { buffer.count }

    mutating func bytes(_ bytes: Span<UInt8>) { buffer.append(bytes) }

    mutating func number(_ number: Int) {
        for shift in [24, 16, 8, 0] { buffer.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    mutating func string(_ bytes: Span<UInt8>) {
        number(bytes.count)
        buffer.append(bytes)
    }

    mutating func text(_ text: String) { string(Array(text.utf8).span) }

    /// A number without zeros in front. One is added before a high bit.
    mutating func mpint(_ bytes: Span<UInt8>) {
        let isHigh = !bytes.isEmpty && bytes[0] >= 0x80
        number(bytes.count + (isHigh ? 1 : 0))
        if isHigh { buffer.append(0) }
        buffer.append(bytes)
    }

    consuming func finish() -> SecretBytes { buffer.finish() }
}
