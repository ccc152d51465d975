internal import OMSecrets

/// The two numbers of an ECDSA signature, in both of their forms.
struct ECDSASignature {
    private let r: [UInt8]
    private let s: [UInt8]
    private let curve: EllipticCurve

    /// - Throws: ``CryptoError/badSignature`` unless the bytes are strict DER of two numbers that fit the curve.
    init(der: [UInt8], _ curve: EllipticCurve) throws(CryptoError) {
        let bytes = der.span
        var top = DERCursor(0..<bytes.count, blame: .badSignature)
        var numbers = try top.enter(DERTag.sequence, bytes)
        try top.finish()
        let (r, s) = (try numbers.unsigned(bytes), try numbers.unsigned(bytes))
        try numbers.finish()
        guard r.count <= curve.count, s.count <= curve.count else { throw .badSignature }
        (self.r, self.s, self.curve) = (bytes.bytes(r), bytes.bytes(s), curve)
    }

    init(fixed: [UInt8], _ curve: EllipticCurve) throws(CryptoError) {
        guard fixed.count == 2 * curve.count else { throw .badSignature }
        (r, s, self.curve) = (Array(fixed.prefix(curve.count)), Array(fixed.suffix(curve.count)), curve)
    }

    var der: [UInt8] {
        var writer = DERWriter()
        writer.sequence {
            $0.integer(r.span)
            $0.integer(s.span)
        }
        return writer.finish().withBytes { [UInt8](copying: $0) }
    }

    var fixed: [UInt8] {
        [UInt8](repeating: 0, count: curve.count - r.count) + r + [UInt8](repeating: 0, count: curve.count - s.count)
            + s
    }
}
