internal import OMOnlineModel
internal import OMSecrets

enum AuthorizationHeader {
    /// `Basic base64(user:password)` with the password's bytes unchanged.
    ///
    /// - Throws: ``OnlineFailure/unusableUser`` if the name has a colon. The server would end the name there (RFC 7617).
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

/// `CustomAuthHeaders`, checked against the SDK's limits.
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
