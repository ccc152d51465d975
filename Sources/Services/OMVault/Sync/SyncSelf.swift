// What a vault that syncs knows of itself. Format: docs/formats/sync.md, "Tables".

internal import OMParcels
internal import OMRecords
internal import OMSecrets
internal import OMStorage

/// The one row of `sync_self`. It is sealed under the device key, and the vault's marks have its generation and digest. So no part
/// of sync can be put back or changed without this device's key.
package struct SyncSelf: Hashable, Sendable {
    private static let version: UInt8 = 1
    /// With the sum of the notes behind that of all rows. Only a vault with a note has it.
    private static let versionWithNotes: UInt8 = 2
    static let maximumBoxCount = 1 + 8 + 4 + 4 + 16 + 8 + 32 + 32 + Record.boxOverhead

    /// 1, and 1 more with each change of this row or of `sync_rows`.
    package internal(set) var generation: UInt64
    /// The number of this device in the roll.
    package let device: UInt32
    /// The number of the device that founded the roll.
    package let founder: UInt32
    /// The salt of this device's keys: 16 bytes.
    package let salt: [UInt8]
    /// The highest count that this device gave out.
    package internal(set) var issued: UInt64
    /// The sum of the MACs of all rows of `sync_rows`, bit by bit modulo 2: 32 bytes.
    var rowSum: [UInt8]
    /// The same of the notes that a read of an item needs: 32 zeros without one. See ``SyncNote``.
    var noteSum: [UInt8]

    /// - Parameter issued: 1 for the founding device, whose count 1 is that of every item from before; 0 for another one.
    package init(device: UInt32, founder: UInt32, salt: [UInt8], issued: UInt64) {
        precondition(salt.count == 16 && device > 0 && founder > 0, "fixed sizes")
        (generation, self.device, self.founder, self.salt, self.issued) = (0, device, founder, salt, issued)
        (rowSum, noteSum) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
    }

    var hasNotes: Bool { noteSum.contains { $0 != 0 } }

    /// version ‖ generation (8) ‖ device (4) ‖ founder (4) ‖ salt (16) ‖ issued (8) ‖ sum of the rows (32), and that of the notes (32) in
    /// version 2
    var encoded: [UInt8] {
        var bytes = [hasNotes ? Self.versionWithNotes : Self.version]
        bytes.append(number: generation)
        bytes.append(number: device)
        bytes.append(number: founder)
        bytes += salt
        bytes.append(number: issued)
        return bytes + rowSum + (hasNotes ? noteSum : [])
    }

    private init(decoding span: Span<UInt8>) throws(MalformedBytes) {
        var cursor = ByteCursor()
        let version: UInt8 = try cursor.number(in: span)
        guard version == Self.version || version == Self.versionWithNotes else { throw MalformedBytes() }
        generation = try cursor.number(in: span)
        device = try cursor.number(in: span)
        founder = try cursor.number(in: span)
        salt = try cursor.take(16, in: span)
        issued = try cursor.number(in: span)
        rowSum = try cursor.take(32, in: span)
        let none = [UInt8](repeating: 0, count: 32)
        noteSum = version == Self.version ? none : try cursor.take(32, in: span)
        try cursor.end(in: span)
        guard version == Self.version || noteSum != none else { throw MalformedBytes() }
        guard generation > 0, device > 0, founder > 0, issued <= Seen.maximumCount else { throw MalformedBytes() }
    }

    func sealed(_ device: borrowing DeviceKey, vault: [UInt8]) -> [UInt8] {
        let context = Self.context(vault)
        return AEAD.seal(SecretBytes(copying: encoded), using: device.key.derive(context), context: context).bytes
    }

    /// - Throws: ``MalformedBytes`` also for a box that does not open.
    init(opening box: [UInt8], _ device: borrowing DeviceKey, vault: [UInt8]) throws(MalformedBytes) {
        let context = Self.context(vault)
        guard let opened = try? AEAD.open(SealedBox(stored: box), using: device.key.derive(context), context: context) else {
            throw MalformedBytes()
        }
        self = try opened.withBytes { (span: Span<UInt8>) throws(MalformedBytes) in try SyncSelf(decoding: span) }
    }

    private static func context(_ vault: [UInt8]) -> Context { Context(.syncSelf, .bytes(vault)) }

    /// What the vault's marks have of the row: its generation (8) ‖ the first 24 bytes of the digest of its box.
    static func mark(_ generation: UInt64, box: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: generation)
        return bytes + PublicHash.hash(box).prefix(24)
    }

    static func generation(ofMark mark: [UInt8]) -> UInt64 { mark.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
}
