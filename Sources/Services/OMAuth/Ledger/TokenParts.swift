// The secrets of a kept session as bytes. Format: docs/formats/login-format.md, "Kept tokens".

internal import OMOnlineModel
package import OMSecrets

/// The secrets of a session that the ledger keeps, and the scopes of its access token.
package struct TokenParts: ~Copyable, Sendable {
    private static let longest = 1 << 20

    package let session: SecretBytes
    package let access: AccessToken

    package init(session: consuming SecretBytes, access: consuming AccessToken) {
        self.session = session
        self.access = access
    }

    borrowing func encoded() -> SecretBuffer {
        var content = SecretBuffer(capacity: session.count + access.value.count + access.idToken.count + 256)
        let scopes = SecretBytes(copying: Array(access.scopes.names.joined(separator: " ").utf8))
        content.append(counted: session)
        content.append(counted: access.value)
        content.append(counted: scopes)
        content.append(counted: access.idToken)
        return content
    }

    init?(decoding bytes: Span<UInt8>) {
        var place = 0
        guard let session = Self.part(bytes, &place), let value = Self.part(bytes, &place), value.count > 0,
            let names = Self.part(bytes, &place)
        else { return nil }
        // A row of an earlier version has zeros there, or nothing.
        let idToken = Self.part(bytes, &place) ?? SecretBytes(copying: [])
        let text = names.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        guard let scopes = ScopeSet(text.split(separator: " ").map(String.init)) else { return nil }
        self.session = session
        access = AccessToken(value, scopes: scopes, idToken: idToken)
    }

    private static func part(_ bytes: Span<UInt8>, _ place: inout Int) -> SecretBytes? {
        guard place + 4 <= bytes.count else { return nil }
        var count = 0
        for index in place..<place + 4 { count = count << 8 | Int(bytes[index]) }
        place += 4
        guard count <= longest, place + count <= bytes.count else { return nil }
        defer { place += count }
        return SecretBytes(copying: bytes.extracting(place..<place + count))
    }
}

extension SecretBuffer {
    fileprivate mutating func append(counted part: borrowing SecretBytes) {
        for shift in stride(from: 24, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: part.count >> shift)) }
        append(part)
    }
}
