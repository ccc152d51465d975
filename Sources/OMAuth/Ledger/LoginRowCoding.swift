// A row as bytes. docs/login-format.md, "A row", has every offset.

internal import OMSecrets
internal import OMStorage

extension LoginRow {
    static let version: UInt8 = 2
    /// Rows from before there were servers. They are read, and written anew as version 2.
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
        bytes.append(generation)
        bytes.append(credential.code)
        bytes.append(charged)
        bytes.append(failed)
        bytes.append(note.limit)
        bytes.append(note.consequence.code)
        for number in [enrolledAt, lastOnline, time.floor, time.written, time.sinceBoot] {
            bytes.append(UInt64(number))
        }
        bytes += time.bootID
        bytes.append(note.mode.code)
        bytes.append(onlineCompares)
        bytes.append(UInt64(lastAttempt))
        bytes += server?.encoded ?? [0]
        for name in [Array(key.profile.text.utf8), key.user.utf8, key.domain.utf8] {
            bytes += [UInt8(name.count)] + name
        }
        let origin = Array(key.server.utf8)
        bytes += [UInt8(truncatingIfNeeded: origin.count >> 8), UInt8(truncatingIfNeeded: origin.count)] + origin
        if case .live(let slot) = credential { bytes += slot.encoded }
        return RowSeal.sealed(bytes, .loginRowMAC, id, device)
    }

    /// The row that stands under `id`.
    ///
    /// - Throws: ``AuthError/quarantined`` for any byte that this device did not write there.
    init(_ bytes: [UInt8], under id: LoginID, _ device: borrowing DeviceKey) throws(AuthError) {
        let body = try RowSeal.open(bytes, atMost: Self.maximumCount, .loginRowMAC, id, device)
        do throws(Malformed) { try self.init(body: body) } catch { throw .quarantined }
        guard self.id == id, deviceID == device.fingerprint() else { throw .quarantined }
    }

    /// The names in a row that may be anybody's: good for saying whose row does not open, and for nothing else.
    init?(unauthenticated bytes: [UInt8]) {
        guard (MAC.count...Self.maximumCount).contains(bytes.count),
            let row = try? LoginRow(body: Array(bytes.dropLast(MAC.count)))
        else { return nil }
        self = row
    }

    private init(body: [UInt8]) throws(Malformed) {
        var reader = ByteReader(body)
        let version = try reader.byte()
        guard version == Self.version || version == Self.firstVersion else { throw Malformed() }
        id = LoginID(try reader.bytes(LoginID.count))
        deviceID = try reader.bytes(32)
        generation = try reader.number64(1...UInt64(Int64.max))
        let state = try reader.byte()
        charged = try reader.number32(0...Self.mostAttempts)
        failed = try reader.number32(0...charged)
        let limit = try reader.number32(1...UInt32(Profile.attempts.upperBound))
        let consequence = try OnAttemptsExceeded(code: reader.byte())
        let enrolledAt = try reader.time()
        let lastOnline = try reader.time()
        time = TimeMemory(
            floor: try reader.time(), written: try reader.time(), sinceBoot: try reader.time(),
            bootID: try reader.bytes(16))
        // We never write a success that is later than the time that has come.
        guard enrolledAt <= time.floor, lastOnline <= time.floor else { throw Malformed() }
        (self.enrolledAt, self.lastOnline) = (enrolledAt, lastOnline)
        let isFirst = version == Self.firstVersion
        note = PolicyNote(limit, consequence, isFirst ? .exceeds : try LimitMode(code: reader.byte()))
        onlineCompares = isFirst ? 0 : try reader.number32(0...Self.mostAttempts)
        lastAttempt = isFirst ? 0 : try reader.time()
        server = isFirst ? nil : try ServerPolicy.read(&reader)
        let profile = try reader.name { (text) throws(AuthError) in try ProfileName(text) }
        let user = try reader.name { (text) throws(AuthError) in try UserName(text) }
        let domain = isFirst ? .none : try reader.name { (text) throws(AuthError) in try IdentityDomain(text) }
        key = LoginKey(
            profile: profile, user: user, server: isFirst ? "" : try Self.origin(&reader), domain: domain)
        switch state {
        case 1: credential = .live(try LoginSlot(&reader))
        case 2: credential = .wipePending
        case 3: credential = .wiped
        case 4 where !isFirst: credential = .clearPending
        case 5 where !isFirst: credential = .cleared
        default: throw Malformed()
        }
        guard reader.isAtEnd else { throw Malformed() }
    }

    private static func origin(_ reader: inout ByteReader) throws(Malformed) -> String {
        let count = try reader.bytes(2).reduce(0) { $0 << 8 | Int($1) }
        guard count <= LoginKey.longestServer,
            let text = String(validating: try reader.bytes(count), as: UTF8.self)
        else { throw Malformed() }
        return text
    }
}

extension LoginRow.Credential {
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

    fileprivate init(code: UInt8) throws(Malformed) {
        switch code {
        case 1: self = .wipe
        case 2: self = .lockout
        default: throw Malformed()
        }
    }
}

extension LimitMode {
    fileprivate var code: UInt8 { self == .exceeds ? 1 : 2 }

    fileprivate init(code: UInt8) throws(Malformed) {
        switch code {
        case 1: self = .exceeds
        case 2: self = .strict
        default: throw Malformed()
        }
    }
}

extension ServerPolicy {
    static let maximumCount = 20
    private static let notSaid: UInt8 = 255

    /// 1 ‖ epoch (8) ‖ offline (1) ‖ attempts (4) ‖ scheme (1) ‖ location (1) ‖ distance (4).
    fileprivate var encoded: [UInt8] {
        var bytes: [UInt8] = [1]
        bytes.append(UInt64(epoch))
        bytes.append(Self.code(offlineAuthAllowed))
        bytes.append(UInt32(clamping: maxLoginAttempts ?? 0))
        bytes.append(cryptoScheme?.code ?? Self.notSaid)
        bytes.append(Self.code(locationUpdateEnabled))
        bytes.append(locationUpdateDistanceFilter.map { UInt32(clamping: $0) } ?? UInt32.max)
        return bytes
    }

    /// - Returns: nil where none is stored.
    fileprivate static func read(_ reader: inout ByteReader) throws(Malformed) -> ServerPolicy? {
        switch try reader.byte() {
        case 0: return nil
        case 1: break
        default: throw Malformed()
        }
        var policy = ServerPolicy(epoch: Int64(try reader.number64(0...UInt64(ServerPolicy.lastEpoch))))
        policy.offlineAuthAllowed = try bool(reader.byte())
        let attempts = try reader.number32(0...UInt32(Profile.attempts.upperBound))
        policy.maxLoginAttempts = attempts == 0 ? nil : Int(attempts)
        let scheme = try reader.byte()
        policy.cryptoScheme = CryptoScheme(code: scheme)
        guard policy.cryptoScheme != nil || scheme == notSaid else { throw Malformed() }
        policy.locationUpdateEnabled = try bool(reader.byte())
        let distance = try reader.number32()
        policy.locationUpdateDistanceFilter = distance == UInt32.max ? nil : Int(distance)
        return policy
    }

    private static func code(_ bool: Bool?) -> UInt8 { bool.map { $0 ? 2 : 1 } ?? 0 }

    private static func bool(_ code: UInt8) throws(Malformed) -> Bool? {
        guard code <= 2 else { throw Malformed() }
        return code == 0 ? nil : code == 2
    }
}

extension LoginSlot {
    /// scheme (1) ‖ scheme salt (16) ‖ stretch salt (16) ‖ memory, passes, lanes (4 each) ‖ commitment (32) ‖ box (72).
    static let count = LoginRecipe.count + 32 + boxCount
    private static let boxCount = SealedBox.overhead + 32

    fileprivate var encoded: [UInt8] { recipe.encoded + commitment + box.bytes }

    fileprivate init(_ reader: inout ByteReader) throws(Malformed) {
        recipe = try LoginRecipe(&reader)
        commitment = try reader.bytes(32)
        box = SealedBox(stored: try reader.bytes(Self.boxCount))
    }
}

extension LoginRecipe {
    static let count = 1 + 2 * saltCount + 12

    var encoded: [UInt8] {
        var bytes = [scheme.code] + schemeSalt + stretchSalt
        for number in [parameters.memoryKiB, parameters.passes, parameters.lanes] { bytes.append(number) }
        return bytes
    }

    fileprivate init(_ reader: inout ByteReader) throws(Malformed) {
        guard let scheme = CryptoScheme(code: try reader.byte()) else { throw Malformed() }
        self.scheme = scheme
        schemeSalt = try reader.bytes(Self.saltCount)
        stretchSalt = try reader.bytes(Self.saltCount)
        let memory = try reader.number32(), passes = try reader.number32(), lanes = try reader.number32()
        // Attack: a row that asks for 4 TiB. Nothing is allocated before the bounds are known to hold.
        guard lanes == 1, let bounded = try? Argon2id.Parameters(memoryKiB: memory, passes: passes) else {
            throw Malformed()
        }
        parameters = bounded
    }
}
