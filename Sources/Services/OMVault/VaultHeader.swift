// The header of a vault: its id, its policy, its device, its class keys, its slots. Format: docs/formats/vault-format.md, "Header".

internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMStorage

/// The header and slots as one state, authenticated under the root key.
struct VaultHeader: Hashable, Sendable {
    private static let version: UInt8 = 1
    static let firstEpoch: UInt32 = 1

    /// The bytes of a header.
    static let count = 82 + ClassKeyWrap.all.count * (2 + ClassKeyWrap.boxCount) + MAC.count

    /// 16 random bytes.
    let id: [UInt8]
    let created: Int64
    /// Rises with every change of the header or a slot.
    private(set) var generation: UInt64
    /// Rises with every rekey.
    private(set) var epoch: UInt32
    private(set) var policy: VaultPolicy
    /// How strongly the device key is tied to the machine, and the key's fingerprint.
    let deviceRank: UInt8
    let device: [UInt8]
    private(set) var wraps: [ClassKeyWrap]
    /// By rising id.
    private(set) var slots: [KeySlot]
    private(set) var mac: [UInt8]

    /// The first header of a vault, authenticated under the root key.
    static func make(
        id: [UInt8], created: Int64, policy: VaultPolicy, deviceRank: UInt8, device: [UInt8],
        wraps: [ClassKeyWrap], slots: [KeySlot], root: borrowing Key<Deriving>
    ) -> VaultHeader {
        var header = VaultHeader(
            id: id, created: created, generation: 1, epoch: firstEpoch, policy: policy,
            deviceRank: deviceRank, device: device, wraps: wraps, slots: slots, mac: [])
        header.sign(root)
        return header
    }

    /// The next header, with other slots or another policy.
    func changed(
        policy: VaultPolicy? = nil, slots: [KeySlot]? = nil, root: borrowing Key<Deriving>
    ) -> VaultHeader {
        var header = self
        header.generation += 1
        header.policy = policy ?? self.policy
        header.slots = (slots ?? self.slots).sorted { $0.id < $1.id }
        header.sign(root)
        return header
    }

    /// The next header, with another root key and other class keys.
    func rekeyed(
        policy: VaultPolicy, slots: [KeySlot], wraps: [ClassKeyWrap], root: borrowing Key<Deriving>
    ) -> VaultHeader {
        var header = self
        header.epoch += 1
        header.wraps = wraps
        return header.changed(policy: policy, slots: slots, root: root)
    }

    /// The same state for a portable backup. The device key opens nothing in it.
    func portable(root: borrowing Key<Deriving>) -> VaultHeader {
        var header = self
        header.wraps = wraps.map { wrap in
            guard wrap.under != .root else { return wrap }
            let nothing = [UInt8](repeating: 0, count: ClassKeyWrap.boxCount)
            return ClassKeyWrap(level: wrap.level, under: wrap.under, box: SealedBox(stored: nothing))
        }
        header.sign(root)
        return header
    }

    /// The header of a restored vault, with other wraps and slots, for this device.
    func restored(
        generation: UInt64, deviceRank: UInt8, device: [UInt8], wraps: [ClassKeyWrap], slots: [KeySlot],
        root: borrowing Key<Deriving>
    ) -> VaultHeader {
        var header = VaultHeader(
            id: id, created: created, generation: generation, epoch: epoch, policy: policy, deviceRank: deviceRank,
            device: device, wraps: wraps, slots: slots, mac: [])
        header.sign(root)
        return header
    }

    /// Where its slots are.
    var slotScope: SlotScope { SlotScope(vault: id, device: device, epoch: epoch) }

    private mutating func sign(_ root: borrowing Key<Deriving>) {
        mac = MAC.tag(of: signed, using: Self.macKey(root), context: macContext)
    }

    /// - Throws: ``VaultError/corrupt(_:)`` if a byte of the header, or the set of slots, is not what a holder of the
    ///   root key wrote.
    func check(_ root: borrowing Key<Deriving>) throws(VaultError) {
        let key = Self.macKey(root)
        try authentic(.header) { () throws(SecretsError) in
            try MAC.check(mac, of: signed, using: key, context: macContext)
        }
    }

    /// The mark of this state. It can be compared without the root key.
    var mark: HighWaterMark { HighWaterMark(generation: generation, digest: PublicHash.hash(signed + mac)) }

    /// Compares the header with the last header that this device noted. This needs no key, so it comes before the user
    /// types a password: nothing is stretched with parameters that an attacker changed.
    ///
    /// - Returns: Whether the header is ahead of its mark, for example after a crash between the two.
    /// - Throws: ``VaultError/rolledBack(_:)`` for an older header, ``VaultError/corrupt(_:)`` for a different header
    ///   of the same age. Only a holder of the root key could write two histories. So an attacker changed this header
    ///   without that key.
    func validate(against noted: HighWaterMark, acceptsRollback: Bool) throws(VaultError) -> Bool {
        switch noted.compare(with: mark) {
        case .same: return false
        case .newer: return true
        case .rolledBack:
            guard generation < noted.generation else { throw .corrupt(.header) }
            guard acceptsRollback else { throw .rolledBack(.header) }
            return false
        }
    }

    private static func macKey(_ root: borrowing Key<Deriving>) -> Key<Authenticating> {
        root.derive(Context(.headerMAC))
    }

    private var macContext: Context { Context(.headerMAC, .bytes(id)) }

    /// The body, then each slot with its length, in the order of their ids. So a slot cannot be added or removed unnoticed.
    private var signed: [UInt8] {
        var bytes = body
        bytes.append(number: UInt32(slots.count))
        for slot in slots {
            let encoded = slot.encoded
            bytes.append(number: UInt32(encoded.count))
            bytes += encoded
        }
        return bytes
    }

    // MARK: - Bytes

    /// version ‖ id (16) ‖ created (8) ‖ generation (8) ‖ epoch (4) ‖ policy (12) ‖ device rank ‖ device (32) ‖
    /// per wrap: level ‖ under ‖ box (72)
    private var body: [UInt8] {
        var bytes = [Self.version] + id
        bytes.append(number: created)
        bytes.append(number: generation)
        bytes.append(number: epoch)
        bytes += policy.encoded + [deviceRank] + device
        for wrap in wraps { bytes += [wrap.level.code, wrap.under.rawValue] + wrap.box.bytes }
        return bytes
    }

    /// body ‖ MAC (32)
    var encoded: [UInt8] { body + mac }

    init(decoding bytes: [UInt8], slots: [KeySlot]) throws(VaultError) {
        self = try authentic(.header) { () throws(MalformedBytes) in try Self.decode(bytes, slots) }
    }

    /// The same with its slots, which were read after it.
    func holding(_ slots: [KeySlot]) -> VaultHeader {
        var header = self
        header.slots = slots
        return header
    }

    private static func decode(_ bytes: [UInt8], _ slots: [KeySlot]) throws(MalformedBytes) -> VaultHeader {
        let span = bytes.span
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: span) == version else { throw MalformedBytes() }
        let id = try cursor.take(16, in: span)
        let created: Int64 = try cursor.number(in: span)
        let generation: UInt64 = try cursor.number(in: span)
        let epoch: UInt32 = try cursor.number(in: span)
        guard generation < UInt64(Int64.max), epoch < UInt32.max else { throw MalformedBytes() }
        let policy = try VaultPolicy(decoding: &cursor, in: span)
        let rank: UInt8 = try cursor.number(in: span)
        let device = try cursor.take(32, in: span)
        var wraps: [ClassKeyWrap] = []
        for (level, under) in ClassKeyWrap.all {
            guard try cursor.number(UInt8.self, in: span) == level.code,
                try cursor.number(UInt8.self, in: span) == under.rawValue
            else { throw MalformedBytes() }
            let box = SealedBox(stored: try cursor.take(ClassKeyWrap.boxCount, in: span))
            wraps.append(ClassKeyWrap(level: level, under: under, box: box))
        }
        let mac = try cursor.take(MAC.count, in: span)
        try cursor.end(in: span)
        return VaultHeader(
            id: id, created: created, generation: generation, epoch: epoch, policy: policy, deviceRank: rank,
            device: device, wraps: wraps, slots: slots, mac: mac)
    }

    private init(
        id: [UInt8], created: Int64, generation: UInt64, epoch: UInt32, policy: VaultPolicy,
        deviceRank: UInt8, device: [UInt8], wraps: [ClassKeyWrap], slots: [KeySlot], mac: [UInt8]
    ) {
        (self.id, self.created, self.generation, self.epoch) = (id, created, generation, epoch)
        (self.policy, self.deviceRank, self.device) = (policy, deviceRank, device)
        (self.wraps, self.slots, self.mac) = (wraps, slots, mac)
    }
}
