// A row as bytes. docs/login-format.md, "A row", has every offset.

internal import OMSecrets
internal import OMStorage

extension LoginRow {
    static let version: UInt8 = 1
    /// The longest row: every name at its full length, with a slot.
    static let maximumCount =
        127 + 1 + ProfileName.maximumCount + 1 + UserName.maximumCount + LoginSlot.count + MAC.count
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
        bytes.append(policy.limit)
        bytes.append(policy.consequence.code)
        for number in [enrolledAt, lastOnline, time.floor, time.written, time.sinceBoot] {
            bytes.append(UInt64(number))
        }
        bytes += time.bootID
        for name in [Array(key.profile.text.utf8), key.user.utf8] { bytes += [UInt8(name.count)] + name }
        if case .live(let slot) = credential { bytes += slot.encoded }
        return bytes + Self.tag(of: bytes, id, device)
    }

    /// The row that stands under `id`.
    ///
    /// - Throws: ``AuthError/quarantined`` for any byte that this device did not write there.
    init(_ bytes: [UInt8], under id: LoginID, _ device: borrowing DeviceKey) throws(AuthError) {
        // The MAC before everything else. Its context holds the id of the key column: another user's row, copied here
        // with a known password in it, is not authentic.
        guard (MAC.count...Self.maximumCount).contains(bytes.count) else { throw .quarantined }
        let body = Array(bytes.dropLast(MAC.count))
        guard ConstantTime.areEqual(Self.tag(of: body, id, device).span, Array(bytes.suffix(MAC.count)).span) else {
            throw .quarantined
        }
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

    private static func tag(of body: [UInt8], _ id: LoginID, _ device: borrowing DeviceKey) -> [UInt8] {
        let key = device.key.derive(Context(.loginRowMAC), as: Authenticating.self)
        return MAC.tag(of: body, using: key, context: Context(.loginRowMAC, .bytes(id.bytes)))
    }

    private init(body: [UInt8]) throws(Malformed) {
        var reader = ByteReader(body)
        guard try reader.byte() == Self.version else { throw Malformed() }
        id = LoginID(try reader.bytes(LoginID.count))
        deviceID = try reader.bytes(32)
        generation = try reader.number64(1...UInt64(Int64.max))
        let state = try reader.byte()
        charged = try reader.number32(0...Self.mostAttempts)
        failed = try reader.number32(0...charged)
        let limit = try reader.number32(1...UInt32(Profile.attempts.upperBound))
        policy = PolicyNote(limit, try OnAttemptsExceeded(code: reader.byte()))
        let enrolledAt = try reader.time()
        let lastOnline = try reader.time()
        time = TimeMemory(
            floor: try reader.time(), written: try reader.time(), sinceBoot: try reader.time(),
            bootID: try reader.bytes(16))
        // We never write a success that is later than the time that has come.
        guard enrolledAt <= time.floor, lastOnline <= time.floor else { throw Malformed() }
        (self.enrolledAt, self.lastOnline) = (enrolledAt, lastOnline)
        key = LoginKey(
            profile: try reader.name { (text) throws(AuthError) in try ProfileName(text) },
            user: try reader.name { (text) throws(AuthError) in try UserName(text) })
        switch state {
        case 1: credential = .live(try LoginSlot(&reader))
        case 2: credential = .wipePending
        case 3: credential = .wiped
        default: throw Malformed()
        }
        guard reader.isAtEnd else { throw Malformed() }
    }
}

extension LoginRow.Credential {
    fileprivate var code: UInt8 {
        switch self {
        case .live: 1
        case .wipePending: 2
        case .wiped: 3
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
