// What a vault says of itself: its id, its device, its class keys, its slots. Format: docs/vault-format.md, "Header".

internal import OMRecords
internal import OMSecrets
internal import OMStorage

/// The header and slots as one state, authenticated under the root key.
struct VaultHeader: Hashable, Sendable {
    private static let version: UInt8 = 1
    static let firstEpoch: UInt32 = 1

    /// The bytes of a header.
    static let count = 71 + ClassKeyWrap.all.count * (2 + ClassKeyWrap.boxCount) + MAC.count

    /// 16 random bytes.
    let id: [UInt8]
    let created: Int64
    /// Rises with every change of the header or a slot.
    let generation: UInt64
    let epoch: UInt32
    let defaultLevel: ProtectionLevel
    /// The rank of the provider that holds the device key, and the key's fingerprint.
    let deviceRank: UInt8
    let device: [UInt8]
    let wraps: [ClassKeyWrap]
    let slots: [KeySlot]
    private(set) var mac: [UInt8]

    /// A header signed with the root key.
    static func make(
        id: [UInt8], created: Int64, defaultLevel: ProtectionLevel, deviceRank: UInt8, device: [UInt8],
        wraps: [ClassKeyWrap], slots: [KeySlot], root: borrowing Key<Deriving>
    ) -> VaultHeader {
        var header = VaultHeader(
            id: id, created: created, generation: 1, epoch: firstEpoch, defaultLevel: defaultLevel,
            deviceRank: deviceRank, device: device, wraps: wraps, slots: slots, mac: [])
        header.mac = MAC.tag(of: header.signed, using: macKey(root), context: header.macContext)
        return header
    }

    /// - Throws: ``VaultError/corrupt(_:)`` when a byte of the header, or the set of slots, is not what a holder of
    ///   the root key wrote.
    func check(_ root: borrowing Key<Deriving>) throws(VaultError) {
        let key = Self.macKey(root)
        try authentic(.header) { () throws(SecretsError) in
            try MAC.check(mac, of: signed, using: key, context: macContext)
        }
    }

    /// The state for the high-water file. It can be compared without the root key.
    var mark: HighWaterMark { HighWaterMark(generation: generation, digest: PublicHash.hash(signed + mac)) }

    /// Judges the header against what this device noted last. No key is needed for it, so it comes before any password
    /// is asked for: parameters that somebody changed are not stretched with.
    ///
    /// - Returns: whether the header is ahead of its mark, as after a crash between the two.
    /// - Throws: ``VaultError/rolledBack(_:)`` for an older one, ``VaultError/corrupt(_:)`` for another one of the same
    ///   age: two histories of a header need the root key, so this is a header that somebody changed without it.
    func judge(against noted: HighWaterMark, acceptsRollback: Bool) throws(VaultError) -> Bool {
        switch noted.judge(mark) {
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

    /// The body, then each slot with its length, in the order of their ids: a slot cannot be added or taken away.
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

    /// version ‖ id (16) ‖ created (8) ‖ generation (8) ‖ epoch (4) ‖ default level ‖ device rank ‖ device (32) ‖
    /// per wrap: level ‖ under ‖ box (72)
    private var body: [UInt8] {
        var bytes = [Self.version] + id
        bytes.append(number: created)
        bytes.append(number: generation)
        bytes.append(number: epoch)
        bytes += [defaultLevel.code, deviceRank] + device
        for wrap in wraps { bytes += [wrap.level.code, wrap.under.rawValue] + wrap.box.bytes }
        return bytes
    }

    /// body ‖ MAC (32)
    var encoded: [UInt8] { body + mac }

    init(decoding bytes: [UInt8], slots: [KeySlot]) throws(VaultError) {
        self = try authentic(.header) { () throws(MalformedBytes) in try Self.decode(bytes, slots) }
    }

    private static func decode(_ bytes: [UInt8], _ slots: [KeySlot]) throws(MalformedBytes) -> VaultHeader {
        let span = bytes.span
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: span) == version else { throw MalformedBytes() }
        let id = try cursor.take(16, in: span)
        let created: Int64 = try cursor.number(in: span)
        let generation: UInt64 = try cursor.number(in: span)
        let epoch: UInt32 = try cursor.number(in: span)
        guard generation < UInt64(Int64.max), let level = ProtectionLevel(code: try cursor.number(in: span)) else {
            throw MalformedBytes()
        }
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
            id: id, created: created, generation: generation, epoch: epoch, defaultLevel: level, deviceRank: rank,
            device: device, wraps: wraps, slots: slots, mac: mac)
    }

    private init(
        id: [UInt8], created: Int64, generation: UInt64, epoch: UInt32, defaultLevel: ProtectionLevel,
        deviceRank: UInt8, device: [UInt8], wraps: [ClassKeyWrap], slots: [KeySlot], mac: [UInt8]
    ) {
        (self.id, self.created, self.generation, self.epoch) = (id, created, generation, epoch)
        (self.defaultLevel, self.deviceRank, self.device) = (defaultLevel, deviceRank, device)
        (self.wraps, self.slots, self.mac) = (wraps, slots, mac)
    }
}
