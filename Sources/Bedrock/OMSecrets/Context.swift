// The context of a sealed box, a derived key or a MAC. Nothing is sealed or derived without a context.

/// A purpose and the fields of the place it holds for. Two different contexts never have the same encoding.
///
///     Context(.record, .bytes(vaultID), .number(revision))
public struct Context: Hashable, Sendable {
    public enum Field: Hashable, Sendable {
        case bytes([UInt8])
        case number(UInt64)
        case text(String)
    }

    /// The encoding: label length (1 byte) ‖ label, then each field. A field is a tag (1 bytes, 2 number, 3 text), then
    /// either the length (8 bytes, big-endian) and the bytes, or the number (8 bytes, big-endian).
    let encoded: [UInt8]

    public init(_ label: Label, _ fields: Field...) {
        self.init(label, fields)
    }

    public init(_ label: Label, _ fields: [Field]) {
        let name = label.rawValue.utf8Span.span
        var encoded: [UInt8] = []
        encoded.reserveCapacity(
            fields.reduce(1 + name.count) { sum, field in
                switch field {
                case .bytes(let bytes): sum + 9 + bytes.count
                case .number: sum + 9
                case .text(let text): sum + 9 + text.utf8.count
                }
            })
        encoded.append(UInt8(name.count))
        encoded.append(copying: name)
        for field in fields {
            switch field {
            case .bytes(let bytes):
                encoded.append(1)
                encoded.append(bigEndian: UInt64(bytes.count))
                encoded.append(copying: bytes.span)
            case .number(let number):
                encoded.append(2)
                encoded.append(bigEndian: number)
            case .text(let text):
                encoded.append(3)
                encoded.append(bigEndian: UInt64(text.utf8.count))
                encoded.append(copying: text.utf8Span.span)
            }
        }
        self.encoded = encoded
    }
}

extension [UInt8] {
    mutating func append(bigEndian number: UInt64) {
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { unsafe append(contentsOf: $0) }
    }
}
