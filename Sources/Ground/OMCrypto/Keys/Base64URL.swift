package import OMSecrets

/// Base64url without padding, RFC 7515 section 2.
package enum Base64URL {
    package static func encode(_ bytes: [UInt8]) -> String {
        encode(SecretBytes(copying: bytes)).withBytes { $0.text($0.indices) }
    }

    package static func encode(_ bytes: borrowing SecretBytes) -> SecretBytes {
        let standard = Base64.encode(bytes)
        var text = SecretBuffer(capacity: standard.count + 1)
        standard.withBytes { standard in
            for index in standard.indices {
                switch standard[index] {
                case UInt8(ascii: "+"): text.append(UInt8(ascii: "-"))
                case UInt8(ascii: "/"): text.append(UInt8(ascii: "_"))
                case UInt8(ascii: "="): break
                default: text.append(standard[index])
                }
            }
        }
        return text.finish()
    }

    /// - Throws: ``SecretsError/notCanonical`` for padding, for standard base64's two other characters, and for unused bits that
    ///   are not zero.
    package static func decode(_ text: Span<UInt8>) throws(SecretsError) -> SecretBytes {
        var standard = SecretBuffer(capacity: text.count)
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): throw .notCanonical
            default: standard.append(text[index])
            }
        }
        return try Base64.decode(standard.finish(), .unpadded)
    }
}
