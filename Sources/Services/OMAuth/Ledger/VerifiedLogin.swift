// The path from a typed password to an unlocking key. No other code makes a verified login.

public import OMSecrets
internal import OMStorage
internal import OMSystem

/// A login that opened its slot. Only that makes one, so it proves that the right password was given.
public struct VerifiedLogin: ~Copyable, Sendable {
    public let user: UserName
    public let profile: ProfileName
    public let domain: IdentityDomain
    /// 16 bytes that only this device can compute. A vault's login slot names the login by them.
    public let id: [UInt8]
    /// Opens what was sealed for this login, such as a vault's login slot. A new enrolment has a new key.
    public let unlock: Key<Unlocking>
    /// Seconds since the enrolment or the last online success.
    public let age: Int64
    /// The last second (since 1970) in which the credential is valid. Nil if it does not expire.
    public let expires: Int64?
    /// Whether the credential expires within seven days.
    public let expiresSoon: Bool
    /// Whether the wall clock is more than two minutes behind the time that this login has seen.
    public let clockIsBehind: Bool
    /// How many wrong passwords are tolerated from here on.
    public let attemptsLeft: Int
    /// The password was right, but the attempt counter could not be reset.
    public internal(set) var isDegraded = false

    fileprivate init(
        _ row: LoginRow, _ unlock: consuming Key<Unlocking>, under policy: LoginPolicy, at clock: ClockReading
    ) {
        let now = row.time.now(clock)
        let age = row.age(under: policy)
        (user, profile, domain, id) = (row.key.user, row.key.profile, row.key.domain, row.id.bytes)
        self.unlock = unlock
        self.age = now - age.since
        expires = age.expires
        expiresSoon = age.expires.map { $0 - now <= 7 * 86_400 } ?? false
        clockIsBehind = row.time.isAhead(of: clock)
        attemptsLeft = policy.tolerated
    }
}

/// A row whose charge for one check is on the disk, in row and mark: see ``LoginStore/charge(_:_:)``. A check takes
/// this type and not a row, so no check can come before its charge.
struct ChargedRow: ~Copyable {
    let row: LoginRow
    private let reached: @Sendable (AttemptPoint) -> Void

    init(chargeOnDisk row: LoginRow, _ reached: @escaping @Sendable (AttemptPoint) -> Void) {
        (self.row, self.reached) = (row, reached)
    }

    /// Checks the password. No other code does.
    ///
    /// - Returns: nil if the password is wrong.
    consuming func check(
        _ stretched: borrowing Key<Unlocking>, on device: borrowing DeviceKey, under policy: LoginPolicy,
        at clock: ClockReading
    ) -> VerifiedLogin? {
        reached(.checking(row))
        return row.open(with: stretched, on: device, under: policy, at: clock)
    }
}

/// A row whose charge for one comparison is on the disk, in row and mark: see
/// ``LoginStore/chargeComparison(_:_:most:)``. A server has refused the password. If it is the cached one, it was
/// changed at the server. The comparison shows nothing else.
struct ComparedRow: ~Copyable {
    let row: LoginRow

    init(chargeOnDisk row: LoginRow) { self.row = row }

    consuming func isCached(_ stretched: borrowing Key<Unlocking>, _ device: borrowing DeviceKey) -> Bool {
        row.unlockingKey(with: stretched, device) != nil
    }
}

/// The result of charging a check.
enum ChargeResult: ~Copyable {
    case charged(ChargedRow)
    case nothingToCheck
}

extension LoginRow {
    /// Opens the slot with a key that was just made for it: the self-test of an enrolment.
    func openNewSlot(
        with stretched: borrowing Key<Unlocking>, on device: borrowing DeviceKey, under policy: LoginPolicy,
        at clock: ClockReading
    ) -> VerifiedLogin? {
        open(with: stretched, on: device, under: policy, at: clock)
    }

    fileprivate func open(
        with stretched: borrowing Key<Unlocking>, on device: borrowing DeviceKey, under policy: LoginPolicy,
        at clock: ClockReading
    ) -> VerifiedLogin? {
        guard let unlock = unlockingKey(with: stretched, device) else { return nil }
        return VerifiedLogin(self, unlock, under: policy, at: clock)
    }

    fileprivate func unlockingKey(
        with stretched: borrowing Key<Unlocking>, _ device: borrowing DeviceKey
    ) -> Key<Unlocking>? {
        guard case .live(let slot) = verifier else { return nil }
        let keys = SlotKeys(stretched, device, id)
        let header = slot.derivation.header(id, deviceID)
        // The commitment is compared first: XChaCha20-Poly1305 alone lets one box open under two passwords.
        guard (try? keys.proven.check(slot.commitment, to: header)) != nil else { return nil }
        return try? keys.wrapping.unwrap(slot.box, context: LoginSlot.context(id, header))
    }
}

/// A random unlocking key, wrapped under a password and the device key.
struct LoginSlot: Hashable, Sendable {
    /// The version of the slot, not of its row: the values that a slot is bound to must not change while it lives.
    static let version: UInt8 = 1

    let derivation: SlotKeyDerivation
    let commitment: [UInt8]
    let box: SealedBox

    /// A slot for a new key, or for the key of the slot before it.
    init(
        _ derivation: SlotKeyDerivation, _ stretched: borrowing Key<Unlocking>, of id: LoginID, on device: borrowing DeviceKey,
        holding unlock: borrowing Key<Unlocking> = .random()
    ) {
        let keys = SlotKeys(stretched, device, id)
        let header = derivation.header(id, device.fingerprint())
        self.derivation = derivation
        commitment = keys.proven.commitment(to: header)
        box = keys.wrapping.wrap(unlock, context: Self.context(id, header))
    }

    fileprivate static func context(_ id: LoginID, _ header: [UInt8]) -> Context {
        Context(.loginUnlock, .bytes(id.bytes), .bytes(header))
    }
}

/// The keys of one attempt. `proven` needs the password *and* the device key: a copied ledger alone allows no guessing.
private struct SlotKeys: ~Copyable {
    let proven: Key<Deriving>
    let wrapping: Key<Wrapping>

    init(_ stretched: borrowing Key<Unlocking>, _ device: borrowing DeviceKey, _ id: LoginID) {
        let context = Context(.loginSlot, .bytes(id.bytes))
        proven = stretched.derive(context, mixing: device.key, as: Deriving.self)
        wrapping = proven.derive(Context(.slotWrap, .bytes(id.bytes)), as: Wrapping.self)
    }
}
