// A row as bytes. docs/formats/login-format.md, "A row", has every offset.

internal import OMRecords
internal import OMSecrets
internal import OMStorage

extension LoginRow {
    static let version: UInt8 = 2
    /// Rows from before servers were supported. They are read, and written again as version 2.
    private static let firstVersion: UInt8 = 1
    /// The longest row: every name at its full length, with a slot.
    static let maximumCount =
        140 + ServerPolicy.maximumCount + 1 + ProfileName.maximumCount + 1 + UserName.maximumCount + 1
        + IdentityDomain.maximumCount + 2 + LoginKey.longestServer + LoginSlot.count + MAC.count
    /// `MaxLoginAttempts` of 1000 and the attempt that exceeds it.
    private static let mostAttempts = UInt32(Profile.attempts.upperBound + 1)

    /// The row and its MAC, which is the last ``MAC/count`` bytes.
    func encode(under device: borrowing DeviceKey) -> [UInt8] {
        var bytes: [UInt8] = [Self.version]
        bytes += id.bytes + deviceID
        bytes.append(number: generation)
        bytes.append(verifier.code)
        bytes.append(number: charged)
        bytes.append(number: failed)
        bytes.append(number: lastPolicy.limit)
        bytes.append(lastPolicy.consequence.code)
        for number in [enrolledAt, lastOnline, time.earliest, time.written, time.sinceBoot] {
            bytes.append(number: UInt64(number))
        }
        bytes += time.bootID
        bytes.append(lastPolicy.mode.code)
        bytes.append(number: onlineCompares)
        bytes.append(number: UInt64(lastAttempt))
        bytes += server?.encoded ?? [0]
        for name in [Array(key.profile.text.utf8), key.user.utf8, key.domain.utf8] {
            bytes += [UInt8(name.count)] + name
        }
        let origin = Array(key.server.utf8)
        bytes += [UInt8(truncatingIfNeeded: origin.count >> 8), UInt8(truncatingIfNeeded: origin.count)] + origin
        if case .live(let slot) = verifier { bytes += slot.encoded }
        return RowSeal.sealed(bytes, as: .loginRowMAC, at: id, under: device)
    }

    /// The row that is stored under `id`.
    ///
    /// - Throws: ``AuthError/quarantined`` for any byte that this device did not write there.
    init(_ bytes: [UInt8], under id: LoginID, _ device: borrowing DeviceKey) throws(AuthError) {
        let body = try RowSeal.open(bytes, atMost: Self.maximumCount, as: .loginRowMAC, at: id, under: device)
        do throws(MalformedBytes) { try self.init(body: body) } catch { throw .quarantined }
        guard self.id == id, deviceID == device.fingerprint() else { throw .quarantined }
    }

    /// The content of a row that may not be authentic. Use only its names, to say whose row does not open.
    init?(unauthenticated bytes: [UInt8]) {
        guard (MAC.count...Self.maximumCount).contains(bytes.count),
            let row = try? LoginRow(body: Array(bytes.dropLast(MAC.count)))
        else { return nil }
        self = row
    }

    private init(body: [UInt8]) throws(MalformedBytes) {
        let span = body.span
        var cursor = ByteCursor()
        let version = try cursor.byte(in: span)
        guard version == Self.version || version == Self.firstVersion else { throw MalformedBytes() }
        id = LoginID(try cursor.take(LoginID.count, in: span))
        deviceID = try cursor.take(32, in: span)
        generation = try cursor.number(1...UInt64(Int64.max), in: span)
        let state = try cursor.byte(in: span)
        charged = try cursor.number(0...Self.mostAttempts, in: span)
        failed = try cursor.number(0...charged, in: span)
        let limit = try cursor.number(1...UInt32(Profile.attempts.upperBound), in: span)
        let consequence = try OnAttemptsExceeded(code: cursor.byte(in: span))
        let enrolledAt = try cursor.time(in: span)
        let lastOnline = try cursor.time(in: span)
        time = LastSeenTime(
            earliest: try cursor.time(in: span), written: try cursor.time(in: span), sinceBoot: try cursor.time(in: span),
            bootID: try cursor.take(16, in: span))
        // This device never writes a success that is later than `earliest`.
        guard enrolledAt <= time.earliest, lastOnline <= time.earliest else { throw MalformedBytes() }
        (self.enrolledAt, self.lastOnline) = (enrolledAt, lastOnline)
        let isFirst = version == Self.firstVersion
        lastPolicy = LastPolicy(limit, consequence, isFirst ? .exceeds : try LimitMode(code: cursor.byte(in: span)))
        onlineCompares = isFirst ? 0 : try cursor.number(0...Self.mostAttempts, in: span)
        lastAttempt = isFirst ? 0 : try cursor.time(in: span)
        server = isFirst ? nil : try ServerPolicy.read(&cursor, span)
        let profile = try cursor.name(in: span) { (text) throws(AuthError) in try ProfileName(text) }
        let user = try cursor.name(in: span) { (text) throws(AuthError) in try UserName(text) }
        let domain = isFirst ? .none : try cursor.name(in: span) { (text) throws(AuthError) in try IdentityDomain(text) }
        key = LoginKey(
            profile: profile, user: user, server: isFirst ? "" : try Self.origin(&cursor, span), domain: domain)
        switch state {
        case 1: verifier = .live(try LoginSlot(&cursor, span))
        case 2: verifier = .wipePending
        case 3: verifier = .wiped
        case 4 where !isFirst: verifier = .clearPending
        case 5 where !isFirst: verifier = .cleared
        default: throw MalformedBytes()
        }
        try cursor.end(in: span)
    }

    private static func origin(_ cursor: inout ByteCursor, _ span: Span<UInt8>) throws(MalformedBytes) -> String {
        let count = Int(try cursor.number(0...UInt16(LoginKey.longestServer), in: span))
        return try cursor.text(count, in: span)
    }
}

extension LoginRow.StoredVerifier {
    fileprivate var code: UInt8 {
        switch self {
        case .live: 1
        case .wipePending: 2
        case .wiped: 3
        case .clearPending: 4
        case .cleared: 5
        }
    }
}

extension OnAttemptsExceeded {
    fileprivate var code: UInt8 { self == .wipe ? 1 : 2 }

    fileprivate init(code: UInt8) throws(MalformedBytes) {
        switch code {
        case 1: self = .wipe
        case 2: self = .lockout
        default: throw MalformedBytes()
        }
    }
}

extension LimitMode {
    fileprivate var code: UInt8 { self == .exceeds ? 1 : 2 }

    fileprivate init(code: UInt8) throws(MalformedBytes) {
        switch code {
        case 1: self = .exceeds
        case 2: self = .strict
        default: throw MalformedBytes()
        }
    }
}

extension ServerPolicy {
    static let maximumCount = 20
    private static let notSaid: UInt8 = 255

    /// 1 ‖ epoch (8) ‖ offline (1) ‖ attempts (4) ‖ scheme (1) ‖ location (1) ‖ distance (4).
    var encoded: [UInt8] {
        var bytes: [UInt8] = [1]
        bytes.append(number: UInt64(epoch))
        bytes.append(Self.code(offlineAuthAllowed))
        bytes.append(number: UInt32(clamping: maxLoginAttempts ?? 0))
        bytes.append(cryptoScheme?.code ?? Self.notSaid)
        bytes.append(Self.code(locationUpdateEnabled))
        bytes.append(number: locationUpdateDistanceFilter.map { UInt32(clamping: $0) } ?? UInt32.max)
        return bytes
    }

    /// - Returns: nil if none is stored.
    static func read(_ cursor: inout ByteCursor, _ span: Span<UInt8>) throws(MalformedBytes) -> ServerPolicy? {
        switch try cursor.byte(in: span) {
        case 0: return nil
        case 1: break
        default: throw MalformedBytes()
        }
        var policy = ServerPolicy(epoch: try cursor.number(0...ServerPolicy.lastEpoch, in: span))
        policy.offlineAuthAllowed = try cursor.choice(in: span)
        let attempts = try cursor.number(0...UInt32(Profile.attempts.upperBound), in: span)
        policy.maxLoginAttempts = attempts == 0 ? nil : Int(attempts)
        let scheme = try cursor.byte(in: span)
        policy.cryptoScheme = CryptoScheme(code: scheme)
        guard policy.cryptoScheme != nil || scheme == notSaid else { throw MalformedBytes() }
        policy.locationUpdateEnabled = try cursor.choice(in: span)
        let distance: UInt32 = try cursor.number(in: span)
        policy.locationUpdateDistanceFilter = distance == UInt32.max ? nil : Int(distance)
        return policy
    }

    private static func code(_ bool: Bool?) -> UInt8 { bool.map { $0 ? 2 : 1 } ?? 0 }
}

extension LoginSlot {
    /// scheme (1) ‖ scheme salt (16) ‖ stretch salt (16) ‖ memory, passes, lanes (4 each) ‖ commitment (32) ‖ box (72).
    static let count = SlotKeyDerivation.count + 32 + boxCount
    private static let boxCount = SealedBox.overhead + 32

    fileprivate var encoded: [UInt8] { derivation.encoded + commitment + box.bytes }

    fileprivate init(_ cursor: inout ByteCursor, _ span: Span<UInt8>) throws(MalformedBytes) {
        derivation = try SlotKeyDerivation(&cursor, span)
        commitment = try cursor.take(32, in: span)
        box = SealedBox(stored: try cursor.take(Self.boxCount, in: span))
    }
}

extension SlotKeyDerivation {
    static let count = 1 + 2 * saltCount + 12

    var encoded: [UInt8] {
        var bytes = [scheme.code] + schemeSalt + stretchSalt
        for number in [parameters.memoryKiB, parameters.passes, parameters.lanes] { bytes.append(number: number) }
        return bytes
    }

    fileprivate init(_ cursor: inout ByteCursor, _ span: Span<UInt8>) throws(MalformedBytes) {
        guard let scheme = CryptoScheme(code: try cursor.byte(in: span)) else { throw MalformedBytes() }
        self.scheme = scheme
        schemeSalt = try cursor.take(Self.saltCount, in: span)
        stretchSalt = try cursor.take(Self.saltCount, in: span)
        let memory: UInt32 = try cursor.number(in: span)
        let passes: UInt32 = try cursor.number(in: span)
        let lanes: UInt32 = try cursor.number(in: span)
        // Attack: a row asks for 4 TiB. The bounds are checked before any memory is allocated.
        guard lanes == 1, let bounded = try? Argon2id.Parameters(memoryKiB: memory, passes: passes) else {
            throw MalformedBytes()
        }
        parameters = bounded
    }
}
