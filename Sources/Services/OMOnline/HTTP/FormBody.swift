internal import NIOCore
internal import OMSecrets

/// `application/x-www-form-urlencoded`, from bytes.
struct FormBody: ~Copyable {
    private var bytes = SecretBuffer()

    mutating func add(_ name: String, _ value: String) {
        begin(name)
        Self.escape(value.utf8Span.span, into: &bytes)
    }

    mutating func add(_ name: String, _ secret: borrowing SecretBytes) {
        begin(name)
        secret.withBytes { Self.escape($0, into: &bytes) }
    }

    private mutating func begin(_ name: String) {
        if bytes.count > 0 { bytes.append(UInt8(ascii: "&")) }
        Self.escape(name.utf8Span.span, into: &bytes)
        bytes.append(UInt8(ascii: "="))
    }

    /// Writes every character except RFC 3986's unreserved ones as %XX. All servers read that alike; they do not read
    /// `+` alike.
    static func escape(_ value: Span<UInt8>, into target: inout SecretBuffer) {
        let digits = Array("0123456789ABCDEF".utf8)
        for index in value.indices {
            let byte = value[index]
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                target.append(byte)
            default:
                target.append(UInt8(ascii: "%"))
                target.append(digits[Int(byte >> 4)])
                target.append(digits[Int(byte & 15)])
            }
        }
    }

    borrowing func duplicate() -> FormBody {
        var copy = FormBody()
        bytes.withBytes { copy.bytes.append($0) }
        return copy
    }

    consuming func finish() -> ByteBuffer { bytes.requestBody() }

    /// The form as text, for a query without secrets.
    consuming func text() -> String {
        bytes.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }
}

extension SecretBuffer {
    /// A copy for the network library, which does not wipe it.
    borrowing func requestBody() -> ByteBuffer {
        withBytes { bytes in
            var buffer = ByteBufferAllocator().buffer(capacity: bytes.count)
            for index in bytes.indices { buffer.writeInteger(bytes[index]) }
            return buffer
        }
    }
}
