// Writing of otpauth URIs: a whole one from its parts, or a stored one with the next counter.

public import OMSecrets

extension OTPAuthURI {
    /// The URI. All settings are written, also the usual ones: some apps have others.
    public borrowing func text() -> SecretBytes {
        var text = SecretBuffer(capacity: 512)
        let isTimed = if case .time = password.factor { true } else { false }
        text.append("otpauth://\(isTimed ? "totp" : "hotp")/")
        switch issuer {
        case .some(let issuer):
            Self.append(issuer, to: &text)
            text.append(":")
        case .none: break
        }
        Self.append(account, to: &text)
        text.append("?secret=")
        Base32.encode(password.secret).withBytes { digits in
            for index in digits.indices where digits[index] != UInt8(ascii: "=") { text.append(digits[index]) }
        }
        switch issuer {
        case .some(let issuer):
            text.append("&issuer=")
            Self.append(issuer, to: &text)
        case .none: break
        }
        text.append("&algorithm=\(password.hash.rawValue.uppercased())&digits=\(password.digits)")
        switch password.factor {
        case .time(let period): text.append("&period=\(period)")
        case .counter(let counter): text.append("&counter=\(counter)")
        }
        return text.finish()
    }

    /// The same URI with another counter. All else stays as it is, also parameters that omvault does not know.
    public static func replacingCounter(
        of text: borrowing SecretBytes, with counter: UInt64
    ) throws(OneTimePasswordError) -> SecretBytes {
        try text.withBytes { (bytes: Span<UInt8>) throws(OneTimePasswordError) in
            guard let old = try OTPAuthParts(bytes).values[.counter] else { throw .missing(.counter) }
            var text = SecretBuffer(capacity: bytes.count + 20)
            text.append(bytes.extracting(0..<old.lowerBound))
            text.append("\(counter)")
            text.append(bytes.extracting(old.upperBound..<bytes.count))
            return text.finish()
        }
    }

    /// Percent escapes for all but RFC 3986's unreserved characters and the `@` of addresses.
    private static func append(_ name: borrowing SecretBytes, to text: inout SecretBuffer) {
        let hex = Array("0123456789ABCDEF".utf8)
        name.withBytes { name in
            for index in name.indices {
                let byte = name[index]
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"), UInt8(ascii: "@"):
                    text.append(byte)
                default: for code in [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]] { text.append(code) }
                }
            }
        }
    }
}

extension SecretBuffer {
    /// Appends text that is not secret.
    fileprivate mutating func append(_ text: String) { append(Array(text.utf8).span) }
}
