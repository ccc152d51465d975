// A token that the ledger keeps, sealed like a remembered password. Format: docs/formats/login-format.md, "Kept tokens".

internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMStorage

/// A row with a sealed token. Only an authentic row is decoded to this type.
struct KeptTokenRow: Hashable, Sendable {
    private static let version: UInt8 = 1
    private static let padding = 64
    private static let maximumBox = SealedBox.overhead + (640 << 10)
    /// The longest row.
    static let maximumCount =
        1 + LoginID.count + 1 + ProfileName.maximumCount + 1 + UserName.maximumCount + 1 + IdentityDomain.maximumCount + 8 + 40
        + 3 * 32 + 4 + maximumBox + MAC.count

    let id: LoginID
    let profile: ProfileName
    let user: UserName
    let domain: IdentityDomain
    /// From this second on it is gone, by ``time``.
    let end: Int64
    var time: LastSeenTime
    /// The digest of the profile that it was made under.
    let digest: [UInt8]
    /// The fingerprint of the backend that it is for.
    let backend: [UInt8]
    let keyID: [UInt8]
    let box: SealedBox

    /// - Parameter parts: What is sealed, in this order.
    init(
        _ id: LoginID, _ profile: Profile, of user: UserName, domain: IdentityDomain, end: Int64, time: LastSeenTime,
        backend: [UInt8], sealing parts: borrowing TokenParts, key: borrowing Key<Remembering>
    ) {
        (self.id, self.profile, self.user, self.domain, self.end, self.time) = (id, profile.name, user, domain, end, time)
        (self.digest, self.backend, keyID) = (profile.digest.bytes, backend, RememberedRow.keyID(key))
        var content = parts.encoded()
        while content.count % Self.padding != 0 { content.append(0) }
        let sealing = key.derive(Context(.keptTokenSeal), as: Sealing.self)
        let context = Self.context(id, of: user, in: domain, backend: backend, end: end)
        box = AEAD.seal(content.finish(), using: sealing, context: context)
    }

    /// - Returns: nil if this key does not open it.
    func open(with key: borrowing Key<Remembering>) -> TokenParts? {
        guard keyID == RememberedRow.keyID(key) else { return nil }
        let sealing = key.derive(Context(.keptTokenSeal), as: Sealing.self)
        let context = Self.context(id, of: user, in: domain, backend: backend, end: end)
        guard let content = try? AEAD.open(box, using: sealing, context: context) else { return nil }
        return content.withBytes { TokenParts(decoding: $0) }
    }

    private static func context(
        _ id: LoginID, of user: UserName, in domain: IdentityDomain, backend: [UInt8], end: Int64
    ) -> Context {
        Context(
            .keptTokenSeal, .bytes(id.bytes), .bytes(user.utf8), .bytes(domain.utf8), .bytes(backend), .text("\(end)"))
    }

    /// The id of the row of an exchanged token under a profile.
    static func exchangeID(_ profile: Profile, _ device: borrowing DeviceKey) -> LoginID {
        let context = Context(.keptTokenID, .text("exchange"), .text(profile.serverIdentity), .text(profile.name.text))
        return LoginID(Array(device.key.fingerprint(context).prefix(LoginID.count)))
    }

    /// The issuer and the backend that a token is for.
    static func backend(_ profile: Profile, _ device: borrowing DeviceKey) -> [UInt8] {
        device.key.fingerprint(
            Context(
                .keptTokenBackend, .text(profile.oauthIssuer ?? profile.serverIdentity), .text(profile.mobileBackendID ?? ""),
                .text(profile.mobileBackendVersion ?? "")))
    }
}

/// The secrets of a kept token, and its scopes.
struct TokenParts: ~Copyable {
    private static let longest = 1 << 20

    let session: SecretBytes
    let access: AccessToken

    init(session: consuming SecretBytes, access: consuming AccessToken) {
        self.session = session
        self.access = access
    }

    borrowing func encoded() -> SecretBuffer {
        var content = SecretBuffer(capacity: session.count + access.value.count + 256)
        let scopes = SecretBytes(copying: Array(access.scopes.names.joined(separator: " ").utf8))
        content.append(counted: session)
        content.append(counted: access.value)
        content.append(counted: scopes)
        return content
    }

    init?(decoding bytes: Span<UInt8>) {
        var place = 0
        guard let session = Self.part(bytes, &place), let value = Self.part(bytes, &place), value.count > 0,
            let names = Self.part(bytes, &place)
        else { return nil }
        let text = names.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        guard let scopes = ScopeSet(text.split(separator: " ").map(String.init)) else { return nil }
        self.session = session
        access = AccessToken(value, scopes: scopes)
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

// MARK: - Bytes

extension KeptTokenRow {
    func encode(under device: borrowing DeviceKey) -> [UInt8] {
        var bytes: [UInt8] = [Self.version] + id.bytes
        for name in [Array(profile.text.utf8), user.utf8, domain.utf8] { bytes += [UInt8(name.count)] + name }
        for number in [end, time.earliest, time.written, time.sinceBoot] { bytes.append(number: UInt64(number)) }
        bytes += time.bootID + digest + backend + keyID
        bytes.append(number: UInt32(box.bytes.count))
        return RowSeal.sealed(bytes + box.bytes, as: .keptTokenMAC, at: id, under: device)
    }

    /// - Throws: ``AuthError/quarantined`` for any byte that this device did not write there.
    init(_ bytes: [UInt8], under id: LoginID, _ device: borrowing DeviceKey) throws(AuthError) {
        let body = try RowSeal.open(bytes, atMost: Self.maximumCount, as: .keptTokenMAC, at: id, under: device)
        do throws(MalformedBytes) { try self.init(body: body) } catch { throw .quarantined }
        guard self.id == id else { throw .quarantined }
    }

    private init(body: [UInt8]) throws(MalformedBytes) {
        let span = body.span
        var cursor = ByteCursor()
        guard try cursor.byte(in: span) == Self.version else { throw MalformedBytes() }
        id = LoginID(try cursor.take(LoginID.count, in: span))
        profile = try cursor.name(in: span) { (text) throws(AuthError) in try ProfileName(text) }
        user = try cursor.name(in: span) { (text) throws(AuthError) in try UserName(text) }
        domain = try cursor.name(in: span) { (text) throws(AuthError) in try IdentityDomain(text) }
        end = try cursor.time(in: span)
        let (earliest, written) = (try cursor.time(in: span), try cursor.time(in: span))
        let sinceBoot = try cursor.time(in: span)
        time = LastSeenTime(
            earliest: earliest, written: written, sinceBoot: sinceBoot, bootID: try cursor.take(16, in: span))
        digest = try cursor.take(ProfileDigest.count, in: span)
        backend = try cursor.take(32, in: span)
        keyID = try cursor.take(32, in: span)
        let count = try cursor.number(UInt32(SealedBox.overhead)...UInt32(Self.maximumBox), in: span)
        box = SealedBox(stored: try cursor.take(Int(count), in: span))
        try cursor.end(in: span)
    }
}
