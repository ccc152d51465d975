// The remembered data of the last login of a profile: names and choices in clear, the password sealed.
// Format: docs/formats/login-format.md, "Remembered credentials".

internal import OMRecords
internal import OMSecrets
internal import OMStorage

/// A row of remembered data. Only an authentic row is decoded to this type.
struct RememberedRow: Hashable, Sendable {
    private static let version: UInt8 = 2
    /// The longest row: the box of a password of 1 MiB with its length and padding, the names, and the rest.
    static let maximumCount =
        1 + LoginID.count + 1 + ProfileName.maximumCount + 5 + 1 + UserName.maximumCount + 1 + IdentityDomain.maximumCount + 1
        + 32 + 4
        + maximumBox + MAC.count
    private static let maximumBox = SealedBox.overhead + Password.maximumCount + 2 * padding
    /// The box's length shows the password's length only in steps of this many bytes.
    private static let padding = 64

    let id: LoginID
    /// The profile of the row. It is found by this name after the profile has named another server.
    let profile: ProfileName
    var preferences = RememberPreferences()
    var user: UserName?
    var domain = IdentityDomain.none
    var password: SealedPassword?
    /// Whether the password may be submitted without asking the user. Set by a success, cleared by the next try.
    var isArmed = false
    /// The password was deleted here, but bytes of its box may still be in the ledger's write-ahead log.
    var isPurgePending = false

    struct SealedPassword: Hashable, Sendable {
        /// The id of the key that opens the box.
        let keyID: [UInt8]
        let box: SealedBox
    }

    init(_ id: LoginID, _ profile: ProfileName) { (self.id, self.profile) = (id, profile) }

    /// Whether it remembers nothing.
    var isEmpty: Bool { user == nil && password == nil && preferences == RememberPreferences() }

    mutating func setPassword(
        _ typed: borrowing Password, of user: UserName, _ domain: IdentityDomain, key: borrowing Key<Remembering>
    ) {
        var content = SecretBuffer(capacity: typed.bytes.count + Self.padding)
        for shift in stride(from: 24, through: 0, by: -8) {
            content.append(UInt8(truncatingIfNeeded: typed.bytes.count >> shift))
        }
        content.append(typed.bytes)
        while content.count % Self.padding != 0 { content.append(0) }
        (self.user, self.domain) = (user, domain)
        let sealing = key.derive(Context(.rememberPassword), as: Sealing.self)
        password = SealedPassword(
            keyID: Self.keyID(key), box: AEAD.seal(content.finish(), using: sealing, context: context(user, domain)))
    }

    /// - Returns: nil if there is no password, or if this key does not open it.
    func openPassword(with key: borrowing Key<Remembering>) -> Password? {
        guard let password, let user, password.keyID == Self.keyID(key) else { return nil }
        let sealing = key.derive(Context(.rememberPassword), as: Sealing.self)
        guard let content = try? AEAD.open(password.box, using: sealing, context: context(user, domain)) else {
            return nil
        }
        let bytes = content.withBytes { (content: Span<UInt8>) -> SecretBytes? in
            guard content.count >= 4 else { return nil }
            let count = (0..<4).reduce(0) { $0 << 8 | Int(content[$1]) }
            guard count <= content.count - 4 else { return nil }
            return SecretBytes(copying: content.extracting(4..<4 + count))
        }
        switch consume bytes {
        case .none: return nil
        case .some(let bytes): return try? Password(bytes)
        }
    }

    /// Deletes the password. This needs no unlocked key.
    mutating func deletePassword() {
        if password != nil { isPurgePending = true }
        (password, isArmed) = (nil, false)
    }

    /// Deletes what a profile no longer allows. The user's choices stay: they remember nothing by themselves.
    ///
    /// Attack: a permission that was withdrawn still acts until the next success. The next person at the terminal sees
    /// the name, and the password's bytes stay on the disk. This deletes both.
    mutating func limit(to policy: RememberPolicy) {
        let choice = RememberChoice(policy, preferences)
        if !choice.keepsPassword { deletePassword() }
        if choice != .autoLogin { isArmed = false }
        // After a failure has deleted the password, its user name stays, as long as the profile allows passwords at all.
        let isNameAlone = preferences.autoLogin == false && preferences.credentials == false
        let keepsPasswords = policy.autoLogin.isAllowed || policy.credentials.isAllowed
        if !policy.userName.isAllowed, isNameAlone || !keepsPasswords { (user, domain) = (nil, .none) }
    }

    static func keyID(_ key: borrowing Key<Remembering>) -> [UInt8] { key.fingerprint(Context(.rememberKey)) }

    private func context(_ user: UserName, _ domain: IdentityDomain) -> Context {
        Context(.rememberPassword, .bytes(id.bytes), .bytes(user.utf8), .bytes(domain.utf8))
    }
}

// MARK: - Bytes

extension RememberedRow {
    func encode(under device: borrowing DeviceKey) -> [UInt8] {
        var bytes: [UInt8] = [Self.version] + id.bytes
        bytes += [UInt8(profile.text.utf8.count)] + profile.text.utf8
        bytes += [isArmed ? 1 : 0, isPurgePending ? 1 : 0]
        bytes += [preferences.autoLogin, preferences.credentials, preferences.userName].map {
            $0.map { $0 ? 2 : 1 } ?? 0
        }
        for name in [user?.utf8 ?? [], domain.utf8] { bytes += [UInt8(name.count)] + name }
        bytes += [password == nil ? 0 : 1]
        if let password {
            bytes += password.keyID
            bytes.append(number: UInt32(password.box.bytes.count))
            bytes += password.box.bytes
        }
        return RowSeal.sealed(bytes, as: .rememberMAC, at: id, under: device)
    }

    /// - Throws: ``AuthError/quarantined`` for any byte that this device did not write there.
    init(_ bytes: [UInt8], under id: LoginID, _ device: borrowing DeviceKey) throws(AuthError) {
        let body = try RowSeal.open(bytes, atMost: Self.maximumCount, as: .rememberMAC, at: id, under: device)
        do throws(MalformedBytes) { try self.init(body: body) } catch { throw .quarantined }
        guard self.id == id else { throw .quarantined }
    }

    private init(body: [UInt8]) throws(MalformedBytes) {
        let span = body.span
        var cursor = ByteCursor()
        guard try cursor.byte(in: span) == Self.version else { throw MalformedBytes() }
        id = LoginID(try cursor.take(LoginID.count, in: span))
        profile = try cursor.name(in: span) { (text) throws(AuthError) in try ProfileName(text) }
        isArmed = try cursor.flag(in: span)
        isPurgePending = try cursor.flag(in: span)
        preferences.autoLogin = try cursor.choice(in: span)
        preferences.credentials = try cursor.choice(in: span)
        preferences.userName = try cursor.choice(in: span)
        user = try cursor.name(in: span) { (text) throws(AuthError) in text.isEmpty ? nil : try UserName(text) }
        domain = try cursor.name(in: span) { (text) throws(AuthError) in try IdentityDomain(text) }
        if try cursor.flag(in: span) {
            let keyID = try cursor.take(32, in: span)
            let count = try cursor.number(UInt32(SealedBox.overhead)...UInt32(Self.maximumBox), in: span)
            password = SealedPassword(keyID: keyID, box: SealedBox(stored: try cursor.take(Int(count), in: span)))
        }
        try cursor.end(in: span)
        // A password needs a user, and an auto login needs a password.
        guard password == nil || user != nil, password != nil || !isArmed else { throw MalformedBytes() }
    }
}
