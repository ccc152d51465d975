internal import OMSecrets

enum Identifier {
    /// 16 bytes in the form 8-4-4-4-12.
    static func text(_ bytes: [UInt8]) -> String {
        let digits = Array(Hex.encode(bytes))
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return groups.map { String(digits[$0.clamped(to: digits.indices)]) }.joined(separator: "-")
    }

    /// A random UUID, version 4, for formats that name their parts so.
    static func random() -> String {
        var bytes = Random.bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return text(bytes)
    }

    /// - Returns: Nil unless the text is 32 hex digits, without dashes or with the dashes of ``text(_:)``.
    static func bytes(_ text: String) -> [UInt8]? {
        guard let bytes = try? Hex.decode(text.replacing("-", with: "")), bytes.count == 16,
            !text.contains("-") || Self.text(bytes) == text.lowercased()
        else { return nil }
        return bytes
    }
}
