internal import OMSecrets

/// DER under construction, in locked memory.
struct DERWriter: ~Copyable {
    private var buffer = SecretBuffer()

    /// An element whose content `body` writes.
    mutating func constructed<E: Error>(_ tag: UInt8, _ body: (inout DERWriter) throws(E) -> Void) throws(E) {
        var inner = DERWriter()
        try body(&inner)
        let content = inner.finish()
        content.withBytes { primitive(tag, $0) }
    }

    mutating func sequence<E: Error>(_ body: (inout DERWriter) throws(E) -> Void) throws(E) {
        try constructed(DERTag.sequence, body)
    }

    mutating func primitive(_ tag: UInt8, _ content: Span<UInt8>) {
        header(tag, content.count)
        buffer.append(content)
    }

    /// A number from 0, big-endian, with or without leading zeros.
    mutating func integer(_ number: Span<UInt8>) {
        var first = 0
        while first + 1 < number.count, number[first] == 0 { first += 1 }
        let digits = number.extracting(first..<number.count)
        let needsZero = digits.isEmpty || digits[0] >= 0x80
        header(DERTag.integer, digits.count + (needsZero ? 1 : 0))
        if needsZero { buffer.append(0) }
        buffer.append(digits)
    }

    mutating func integer(_ number: Int) {
        var digits = [UInt8(truncatingIfNeeded: number)]
        var rest = number >> 8
        while rest > 0 {
            digits.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        integer(digits.span)
    }

    mutating func octets(_ bytes: Span<UInt8>) { primitive(DERTag.octetString, bytes) }

    mutating func bits(_ bytes: Span<UInt8>) {
        header(DERTag.bitString, bytes.count + 1)
        buffer.append(0)
        buffer.append(bytes)
    }

    mutating func objectIdentifier(_ identifier: [UInt8]) {
        primitive(DERTag.objectIdentifier, identifier.span)
    }

    mutating func null() { header(DERTag.null, 0) }

    /// Bytes that are DER already.
    mutating func raw(_ bytes: Span<UInt8>) { buffer.append(bytes) }

    consuming func finish() -> SecretBytes { buffer.finish() }

    private mutating func header(_ tag: UInt8, _ count: Int) {
        buffer.append(tag)
        guard count >= 0x80 else { return buffer.append(UInt8(count)) }
        var digits: [UInt8] = []
        var rest = count
        while rest > 0 {
            digits.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        buffer.append(0x80 | UInt8(digits.count))
        buffer.append(digits.span)
    }
}
