// What a device keeps of its account at a server. Format: docs/formats/sync.md, "Over HTTP".

package import OMRecords
package import OMSecrets

/// The tokens that let a device in at a server, and whom and what they are for. They open nothing of a vault.
package final class ServerLogin: Sendable {
    static let version: UInt8 = 1
    package static let maximumToken = 4096
    package static let maximumUser = 255
    package static let maximumTrusted = 64 << 10

    package let refresh: SecretBytes
    package let access: SecretBytes
    /// When the access token ends, in seconds since 1970 by this device's clock.
    package let expires: Int64
    package let user: String
    /// The certificates that the user trusts for this server alone, as PEM. Empty: those of the system.
    package let trusted: [UInt8]

    /// - Returns: nil if a part is empty, or longer than a row can have.
    package init?(
        refresh: consuming SecretBytes, access: consuming SecretBytes, expires: Int64, user: String, trusted: [UInt8]
    ) {
        let tokens = 1...Self.maximumToken
        guard tokens.contains(refresh.count), tokens.contains(access.count), (1...Self.maximumUser).contains(user.utf8.count),
            trusted.count <= Self.maximumTrusted
        else { return nil }
        (self.expires, self.user, self.trusted) = (expires, user, trusted)
        self.refresh = refresh
        self.access = access
    }

    private init(withoutRefresh login: ServerLogin) {
        (expires, user, trusted) = (login.expires, login.user, login.trusted)
        refresh = SecretBytes(copying: [])
        access = login.access.duplicate()
    }

    /// For a process that only uses the access token. It has no bytes of the refresh token, and cannot be encoded.
    package var withoutRefresh: ServerLogin { ServerLogin(withoutRefresh: self) }

    /// Whether the access token can be used for some time.
    package func isAlive(at now: Int64) -> Bool { expires > now + 30 }

    package var encoded: SecretBytes {
        precondition(refresh.count > 0, "a login without its refresh token is not kept")
        var body = SecretBuffer(capacity: 64 + refresh.count + access.count + user.utf8.count + trusted.count)
        body.append(Self.version)
        Self.append(UInt16(refresh.count), to: &body)
        body.append(refresh)
        Self.append(expires, to: &body)
        Self.append(UInt16(access.count), to: &body)
        body.append(access)
        Self.append(UInt8(user.utf8.count), to: &body)
        let name = Array(user.utf8)
        body.append(name.span)
        Self.append(UInt32(trusted.count), to: &body)
        let certificates = trusted
        body.append(certificates.span)
        return body.finish()
    }

    package static func decode(_ bytes: borrowing SecretBytes) throws(MalformedBytes) -> ServerLogin {
        try bytes.withBytes { (span: Span<UInt8>) throws(MalformedBytes) in
            var cursor = ByteCursor()
            guard try cursor.number(UInt8.self, in: span) == version else { throw MalformedBytes() }
            let refresh = try token(&cursor, span)
            let expires: Int64 = try cursor.number(in: span)
            let access = try token(&cursor, span)
            let user = try cursor.text(Int(try cursor.number(UInt8.self, in: span)), in: span)
            let trusted = try cursor.take(Int(try cursor.number(UInt32.self, in: span)), in: span)
            try cursor.end(in: span)
            guard
                let login = ServerLogin(refresh: refresh, access: access, expires: expires, user: user, trusted: trusted)
            else { throw MalformedBytes() }
            return login
        }
    }

    private static func token(_ cursor: inout ByteCursor, _ span: Span<UInt8>) throws(MalformedBytes) -> SecretBytes {
        let place = try cursor.skip(Int(try cursor.number(UInt16.self, in: span)), in: span)
        return SecretBytes(copying: span.extracting(place))
    }

    private static func append<Number: FixedWidthInteger>(_ number: Number, to body: inout SecretBuffer) {
        var bytes: [UInt8] = []
        bytes.append(number: number)
        body.append(bytes.span)
    }
}
