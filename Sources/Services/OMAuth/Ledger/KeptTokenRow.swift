// A token or a session that the ledger keeps, sealed like a remembered password. Format: docs/formats/login-format.md, "Kept tokens".

internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// A row with a sealed token. Only an authentic row is decoded to this type.
struct KeptTokenRow: Hashable, Sendable {
    /// Of an exchanged token, and of a remembered session.
    private static let (exchangeVersion, sessionVersion): (UInt8, UInt8) = (1, 2)
    private static let padding = 64
    private static let saltCount = 16
    private static let maximumBox = SealedBox.overhead + (768 << 10)
    /// The longest row.
    static let maximumCount =
        1 + LoginID.count + 1 + ProfileName.maximumCount + 1 + UserName.maximumCount + 1 + IdentityDomain.maximumCount + 32 + 40
        + 16 + 3 * 32 + 4 + maximumBox + MAC.count

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
    private(set) var box: SealedBox
    /// The state of a remembered session, which its mark names. 0 for an exchanged token, which has no mark.
    private(set) var generation: UInt64 = 0
    /// When the user logged in, and when the access token ends. Only of a remembered session.
    private(set) var since: Int64 = 0
    /// From it the key of this login's row is made. Only of a remembered session.
    private(set) var salt: [UInt8] = []
    private(set) var accessEnd: Int64 = 0

    /// - Parameter parts: What is sealed, in this order.
    init(
        _ id: LoginID, _ profile: Profile, of user: UserName, domain: IdentityDomain, end: Int64, time: LastSeenTime,
        backend: [UInt8], sealing parts: borrowing TokenParts, key: borrowing Key<Remembering>
    ) {
        (self.id, self.profile, self.user, self.domain, self.end, self.time) = (id, profile.name, user, domain, end, time)
        (self.digest, self.backend, keyID) = (profile.digest.bytes, backend, RememberedRow.keyID(key))
        let sealing = key.derive(Context(.keptTokenSeal), as: Sealing.self)
        box = Self.box(parts, sealing, Self.context(id, of: user, in: domain, backend: backend, end: end))
    }

    private static func box(_ parts: borrowing TokenParts, _ key: borrowing Key<Sealing>, _ context: Context) -> SealedBox {
        var content = parts.encoded()
        while content.count % padding != 0 { content.append(0) }
        return AEAD.seal(content.finish(), using: key, context: context)
    }

    /// - Returns: nil if this key does not open it.
    func open(with key: borrowing Key<Remembering>) -> TokenParts? {
        guard isSealed(with: key) else { return nil }
        let sealing =
            generation == 0 ? key.derive(Context(.keptTokenSeal), as: Sealing.self) : sessionKey(key)
        let context = Self.context(id, of: user, in: domain, backend: backend, end: end)
        guard let content = try? AEAD.open(box, using: sealing, context: context) else { return nil }
        return content.withBytes { TokenParts(decoding: $0) }
    }

    /// Whether it was sealed with this key. Another one never opens it: it is of another vault, or of a vault that is gone.
    func isSealed(with key: borrowing Key<Remembering>) -> Bool { keyID == RememberedRow.keyID(key) }

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

// MARK: - Remembered sessions

extension KeptTokenRow {
    /// The first state of a session.
    ///
    /// - Parameters:
    ///   - generation: Higher than any that the row had before.
    ///   - end: When the session times out, by ``time``.
    init(
        session key: LoginKey, _ profile: Profile, generation: UInt64, end: Int64, accessEnd: Int64, time: LastSeenTime,
        sealing parts: borrowing TokenParts, key remembering: borrowing Key<Remembering>, _ device: borrowing DeviceKey
    ) {
        let id = Self.sessionID(key, device), backend = Self.backend(profile, device)
        (self.id, self.profile, user, domain) = (id, key.profile, key.user, key.domain)
        (self.end, self.time, digest, self.backend) = (end, time, profile.digest.bytes, backend)
        (self.generation, since, self.accessEnd) = (generation, time.written, accessEnd)
        keyID = RememberedRow.keyID(remembering)
        salt = Random.bytes(Self.saltCount)
        let context = Self.context(id, of: key.user, in: key.domain, backend: backend, end: end)
        box = Self.box(parts, Self.sessionKey(id, salt, remembering), context)
    }

    /// The next state of the session.
    mutating func renew(_ parts: borrowing TokenParts, accessEnd: Int64, key: borrowing Key<Sealing>, at clock: ClockReading) {
        box = Self.box(parts, key, Self.context(id, of: user, in: domain, backend: backend, end: end))
        generation += 1
        self.accessEnd = accessEnd
        time.update(clock)
    }

    /// The key of this login's row. The agent may keep it while the level is locked.
    ///
    /// Attack: a program has read one ticket of the agent, and with the key in it opens the session of each later login too. So each
    /// login has a salt of its own.
    func sessionKey(_ key: borrowing Key<Remembering>) -> Key<Sealing> { Self.sessionKey(id, salt, key) }

    private static func sessionKey(_ id: LoginID, _ salt: [UInt8], _ key: borrowing Key<Remembering>) -> Key<Sealing> {
        key.derive(Context(.keptTokenSeal, .bytes(id.bytes), .bytes(salt)), as: Sealing.self)
    }

    static func sessionID(_ key: LoginKey, _ device: borrowing DeviceKey) -> LoginID {
        let context = Context(
            .keptTokenID, .text("session"), .text(key.server), .text(key.profile.text), .text(key.domain.text),
            .bytes(key.user.utf8))
        return LoginID(Array(device.key.fingerprint(context).prefix(LoginID.count)))
    }

    /// The mark of this state. The row's MAC represents the whole row.
    static func mark(_ generation: UInt64, _ bytes: [UInt8]) -> HighWaterMark {
        HighWaterMark(generation: generation, digest: Array(bytes.suffix(MAC.count)))
    }
}

// MARK: - Bytes

extension KeptTokenRow {
    func encode(under device: borrowing DeviceKey) -> [UInt8] {
        var bytes: [UInt8] = [generation == 0 ? Self.exchangeVersion : Self.sessionVersion] + id.bytes
        for name in [Array(profile.text.utf8), user.utf8, domain.utf8] { bytes += [UInt8(name.count)] + name }
        for number in [end, time.earliest, time.written, time.sinceBoot] { bytes.append(number: UInt64(number)) }
        bytes += time.bootID
        if generation > 0 {
            bytes.append(number: generation)
            for number in [since, accessEnd] { bytes.append(number: UInt64(number)) }
            bytes += salt
        }
        bytes += digest + backend + keyID
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
        let version = try cursor.byte(in: span)
        guard [Self.exchangeVersion, Self.sessionVersion].contains(version) else { throw MalformedBytes() }
        id = LoginID(try cursor.take(LoginID.count, in: span))
        profile = try cursor.name(in: span) { (text) throws(AuthError) in try ProfileName(text) }
        user = try cursor.name(in: span) { (text) throws(AuthError) in try UserName(text) }
        domain = try cursor.name(in: span) { (text) throws(AuthError) in try IdentityDomain(text) }
        end = try cursor.time(in: span)
        let (earliest, written) = (try cursor.time(in: span), try cursor.time(in: span))
        let sinceBoot = try cursor.time(in: span)
        time = LastSeenTime(
            earliest: earliest, written: written, sinceBoot: sinceBoot, bootID: try cursor.take(16, in: span))
        if version == Self.sessionVersion {
            generation = try cursor.number(1...UInt64(Int64.max), in: span)
            (since, accessEnd) = (try cursor.time(in: span), try cursor.time(in: span))
            salt = try cursor.take(Self.saltCount, in: span)
        }
        digest = try cursor.take(ProfileDigest.count, in: span)
        backend = try cursor.take(32, in: span)
        keyID = try cursor.take(32, in: span)
        let count = try cursor.number(UInt32(SealedBox.overhead)...UInt32(Self.maximumBox), in: span)
        box = SealedBox(stored: try cursor.take(Int(count), in: span))
        try cursor.end(in: span)
    }
}
