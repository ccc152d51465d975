import OMSecrets

extension SecretBytes {
    init(_ text: String) { self.init(copying: Array(text.utf8)) }
    init(hex: String) { self.init(copying: bytes(hex)) }

    /// The unprotected bytes, for tests only.
    var exposed: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
    var hex: String { Hex.encode(exposed) }
}

/// Bytes from the hex of a published vector, blanks allowed.
func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.filter { !$0.isWhitespace })
    precondition(digits.count % 2 == 0, "half a byte in a vector")
    return stride(from: 0, to: digits.count, by: 2).map { index in
        guard let byte = UInt8(String(digits[index...index + 1]), radix: 16) else { preconditionFailure("not hex") }
        return byte
    }
}

/// The error that `body` throws, or nil: `#expect(throws:)` takes no closure that moves a secret.
func refusal(_ body: () throws(SecretsError) -> Void) -> SecretsError? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}
