// User names and passwords as the protocols send them, made from bytes in locked memory. The copy that the network
// library keeps until the process ends cannot be avoided: it takes its own buffers.

internal import NIOCore
internal import OMOnlineModel
internal import OMSecrets

/// A user name with its identity domain.
struct LoginName {
    let text: String
    /// The header that carries the domain, if one does.
    let header: OnlineService.Header?

    /// - Throws: ``OnlineFailure/unusableUser``, ``OnlineFailure/unusableHeaders``.
    init(_ user: String, _ domain: OnlineService.Domain?) throws(OnlineRefusal) {
        guard !user.isEmpty, user.utf8.count <= 4096, user.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .failed(.unusableUser)
        }
        guard let domain else {
            (text, header) = (user, nil)
            return
        }
        guard let name = domain.header else {
            guard !domain.name.isEmpty, domain.name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw .failed(.unusableUser)
            }
            (text, header) = ("\(domain.name).\(user)", nil)
            return
        }
        (text, header) = (user, OnlineService.Header(name, domain.name))
    }
}

enum Authorization {
    /// `Basic base64(user:password)`, the password's bytes as they are.
    ///
    /// - Throws: ``OnlineFailure/unusableUser``: with a colon the server would cut the name short (RFC 7617).
    static func basic(_ user: String, _ password: borrowing SecretBytes) throws(OnlineRefusal) -> String {
        guard !user.utf8.contains(UInt8(ascii: ":")) else { throw .failed(.unusableUser) }
        var pair = SecretBuffer()
        pair.append(user.utf8Span.span)
        pair.append(UInt8(ascii: ":"))
        pair.append(password)
        let encoded = Base64.encode(pair.finish())
        return encoded.withBytes { text in "Basic " + String(decoding: text.indices.map { text[$0] }, as: UTF8.self) }
    }
}

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

    /// All but RFC 3986's unreserved characters as %XX: every server reads that alike, which does not hold for `+`.
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

    consuming func finish() -> ByteBuffer {
        bytes.withBytes { bytes in
            var buffer = ByteBufferAllocator().buffer(capacity: bytes.count)
            for index in bytes.indices { buffer.writeInteger(bytes[index]) }
            return buffer
        }
    }
}

/// `CustomAuthHeaders`, held against the SDK's limits.
struct CustomHeaders {
    static let maximum = 10

    let fields: [OnlineService.Header]

    /// - Throws: ``OnlineFailure/unusableHeaders``.
    init(_ fields: [OnlineService.Header]) throws(OnlineRefusal) {
        guard fields.count <= Self.maximum, fields.allSatisfy(Self.isUsable) else { throw .failed(.unusableHeaders) }
        self.fields = fields
    }

    static func isUsable(_ field: OnlineService.Header) -> Bool {
        let name = field.name.lowercased()
        let marks = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz".utf8)
        return !name.isEmpty && name.utf8.count <= 256 && name.utf8.allSatisfy(marks.contains)
            && !OnlineService.Header.reserved.contains(name) && field.value.utf8.count <= 8192
            && field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}
