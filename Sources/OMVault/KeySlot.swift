// One way to prove who you are: the root key, wrapped under what that way gives.
// Format: docs/vault-format.md, "Slot".

internal import OMRecords
public import OMSecrets
internal import OMStorage

/// A key slot as it stands in the vault. It opens with ``VaultFile/unlock(_:with:)``.
public struct KeySlot: Hashable, Sendable {
    public enum Kind: UInt8, Hashable, Sendable {
        case password = 1
        /// Not mixed with the device key: it must open the vault on another device.
        case recovery = 2
    }

    public let kind: Kind
    public let id: UInt32
    /// How the secret is stretched, and its salt (16 bytes).
    public let stretch: Argon2id.Parameters
    public let salt: [UInt8]
    /// Seconds since 1970.
    public let created: Int64

    let commitment: [UInt8]
    let box: SealedBox

    private static let version: UInt8 = 1
    /// The bytes of a slot.
    static let count = 42 + 32 + boxCount
    private static let boxCount = SealedBox.overhead + Key<Deriving>.count

    public var isDeviceBound: Bool { kind == .password }

    /// The key that this slot asks for, from what was typed. Slow on purpose.
    ///
    /// - Throws: ``VaultError/outOfMemory``, ``VaultError/unsupportedStretch``.
    public func key(stretching secret: borrowing SecretBytes) throws(VaultError) -> Key<Unlocking> {
        try OMVault.stretching { () throws(SecretsError) in try Argon2id.stretch(secret, salt: salt, stretch) }
    }

    // MARK: - Wrapping and unwrapping

    /// Wraps the root key. The commitment and the box are bound to the vault and to every parameter of the slot.
    init(
        _ kind: Kind, id: UInt32, _ stretch: Argon2id.Parameters, salt: [UInt8], created: Int64,
        key: borrowing Key<Unlocking>, root: borrowing Key<Deriving>, vault: [UInt8], device: borrowing DeviceKey
    ) {
        (self.kind, self.id, self.stretch, self.salt, self.created) = (kind, id, stretch, salt, created)
        let head = Self.head(kind, id, stretch, salt, created)
        let slotKey = Self.slotKey(kind, id, key, vault, device)
        commitment = slotKey.commitment(to: vault + head)
        let wrapping: Key<Wrapping> = slotKey.derive(Context(.slotWrap))
        box = wrapping.wrap(root, context: Context(.rootWrap, .bytes(vault), .bytes(head)))
    }

    /// - Throws: ``VaultError/cannotUnlock``.
    func unwrap(
        with key: borrowing Key<Unlocking>, vault: [UInt8], device: borrowing DeviceKey?
    ) throws(VaultError) -> Key<Deriving> {
        let slotKey = try slotKey(key, vault, device)
        do throws(SecretsError) {
            // The commitment first: the AEAD alone could be made to open under two keys.
            try slotKey.check(commitment, to: vault + head)
            let wrapping: Key<Wrapping> = slotKey.derive(Context(.slotWrap))
            return try wrapping.unwrap(box, context: Context(.rootWrap, .bytes(vault), .bytes(head)))
        } catch {
            throw .cannotUnlock
        }
    }

    private func slotKey(
        _ key: borrowing Key<Unlocking>, _ vault: [UInt8], _ device: borrowing DeviceKey?
    ) throws(VaultError) -> Key<Deriving> {
        guard isDeviceBound else { return key.derive(Context(.slot, .bytes(vault), .number(UInt64(id)))) }
        switch device {
        case .some(let device): return Self.slotKey(kind, id, key, vault, device)
        case .none: throw .deviceKeyMissing
        }
    }

    private static func slotKey(
        _ kind: Kind, _ id: UInt32, _ key: borrowing Key<Unlocking>, _ vault: [UInt8], _ device: borrowing DeviceKey
    ) -> Key<Deriving> {
        let context = Context(.slot, .bytes(vault), .number(UInt64(id)))
        return kind == .password ? key.derive(context, mixing: device.key) : key.derive(context)
    }

    // MARK: - Bytes

    private var head: [UInt8] { Self.head(kind, id, stretch, salt, created) }

    /// version ‖ kind ‖ id (4) ‖ memory in KiB (4) ‖ passes (4) ‖ lanes (4) ‖ salt (16) ‖ created (8)
    private static func head(
        _ kind: Kind, _ id: UInt32, _ stretch: Argon2id.Parameters, _ salt: [UInt8], _ created: Int64
    ) -> [UInt8] {
        var bytes = [version, kind.rawValue]
        bytes.append(number: id)
        bytes.append(number: stretch.memoryKiB)
        bytes.append(number: stretch.passes)
        bytes.append(number: stretch.lanes)
        bytes += salt
        bytes.append(number: created)
        return bytes
    }

    /// head ‖ commitment (32) ‖ box (72)
    var encoded: [UInt8] { head + commitment + box.bytes }

    init(decoding bytes: [UInt8]) throws(VaultError) {
        self = try authentic(.slot) { () throws -> KeySlot in
            let span = bytes.span
            var cursor = ByteCursor()
            guard try cursor.number(UInt8.self, in: span) == Self.version,
                let kind = Kind(rawValue: try cursor.number(in: span))
            else { throw MalformedBytes() }
            let slot = KeySlot(
                kind: kind, id: try cursor.number(in: span),
                // Checked against the bounds here, before anything is allocated: a file may ask for 4 TiB.
                stretch: try Argon2id.Parameters(
                    memoryKiB: try cursor.number(in: span), passes: try cursor.number(in: span),
                    lanes: try cursor.number(in: span)),
                salt: try cursor.take(Argon2id.saltCount, in: span), created: try cursor.number(in: span),
                commitment: try cursor.take(32, in: span),
                box: SealedBox(stored: try cursor.take(Self.boxCount, in: span)))
            try cursor.end(in: span)
            return slot
        }
    }

    private init(
        kind: Kind, id: UInt32, stretch: Argon2id.Parameters, salt: [UInt8], created: Int64, commitment: [UInt8],
        box: SealedBox
    ) {
        (self.kind, self.id, self.stretch, self.salt, self.created) = (kind, id, stretch, salt, created)
        (self.commitment, self.box) = (commitment, box)
    }
}
