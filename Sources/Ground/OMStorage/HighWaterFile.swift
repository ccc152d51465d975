// The file of the newest states that this device saw. A vault or a login row that is older than its mark
// was put back from a copy.
// Format: docs/formats/vault-format.md, "High-water file".

internal import Glibc
internal import OMSecrets
package import OMSystem

/// The marks of one vault or login. There are two slots of 512 bytes, written in place in turn, so a torn write
/// leaves the previous slot intact.
package struct HighWaterFile: ~Copyable, Sendable {
    package enum Kind: String, Sendable { case vault, login, password }

    /// The number of marks that fit into a slot.
    package static let capacity = 11
    static let suffix = ".mark"
    private static let slotCount = 512
    private static let macOffset = 480
    private static let magic = Array("OMVHW1".utf8)

    private let folder: PrivateFolder
    private let name: String
    private let kind: Kind
    private let id: [UInt8]
    private let key: Key<Authenticating>

    init(in folder: PrivateFolder, _ kind: Kind, of id: [UInt8], _ key: consuming Key<Authenticating>) {
        precondition(id.count == 16, "an id has 16 bytes")
        name = "\(kind.rawValue)-\(Hex.encode(id))"
        (self.folder, self.kind, self.id) = (folder, kind, id)
        self.key = key
    }

    /// The lock that protects these marks.
    package var lock: FileLock { FileLock(folder, "\(name).lock") }

    /// The lock of an exchange with other devices.
    package var syncLock: FileLock { FileLock(folder, "\(name).sync.lock") }
    /// Held from the reading of a server's token until the next one is written.
    package var loginLock: FileLock { FileLock(folder, "\(name).login.lock") }

    /// The marks that were written last.
    ///
    /// - Returns: nil if there is no file.
    /// - Throws: ``StorageError/corrupt`` if neither slot is authentic.
    package borrowing func read() throws(StorageError) -> [HighWaterMark]? {
        guard let file = try PrivateFile.ifPresent(folder.file(fileName), O_RDONLY) else { return nil }
        return try newest(file).marks
    }

    /// Whether the file exists, readable or not.
    package borrowing func exists() throws(StorageError) -> Bool { try PrivateFile.inspect(folder.file(fileName)) }

    /// Writes the first marks.
    ///
    /// - Throws: ``StorageError/exists``.
    package borrowing func create(_ marks: [HighWaterMark]) throws(StorageError) {
        let slot = encode(marks, sequence: 1)
        let blank = [UInt8](repeating: 0, count: Self.slotCount)
        try folder.create(fileName, holding: (slot + blank).span)
    }

    /// Replaces unreadable marks with first marks, or creates the file. Another process sees the old file or the new
    /// one. The caller holds ``lock``.
    package borrowing func replace(_ marks: [HighWaterMark]) throws(StorageError) {
        try folder.replace(fileName, holding: encode(marks, sequence: 1) + [UInt8](repeating: 0, count: Self.slotCount))
    }

    /// Writes the marks over the older slot. The caller holds ``lock``.
    ///
    /// - Parameter isSynced: Whether to wait until the disk has the marks. Without that, a power cut may bring the old
    ///   marks back; a crash of the process does not.
    package borrowing func write(_ marks: [HighWaterMark], isSynced: Bool = true) throws(StorageError) {
        let file = try PrivateFile(folder.file(fileName), O_RDWR)
        let last = try newest(file)
        let slot = encode(marks, sequence: last.sequence + 1)
        let offset = last.index == 0 ? Self.slotCount : 0
        if isSynced { try file.writeDurably(slot.span, at: offset) } else { try file.write(slot.span, at: offset) }
    }

    /// Deletes the marks, also unreadable ones. A state without its marks counts as put back.
    package borrowing func remove() throws(StorageError) {
        guard unlink(folder.file(fileName)) == 0 || errno == ENOENT else { throw .last }
        try syncFolder(above: folder.file(fileName))
    }

    private var fileName: String { name + Self.suffix }

    private borrowing func newest(_ file: borrowing PrivateFile) throws(StorageError) -> Slot {
        let bytes = try file.read(2 * Self.slotCount + 1)
        guard bytes.count == 2 * Self.slotCount else { throw .corrupt }
        let slots = [0, 1].compactMap { index in
            decode(Array(bytes[index * Self.slotCount..<(index + 1) * Self.slotCount]), index)
        }
        guard let newest = slots.max(by: { $0.sequence < $1.sequence }) else { throw .corrupt }
        return newest
    }

    private struct Slot {
        let index: Int
        let sequence: UInt64
        let marks: [HighWaterMark]
    }

    /// magic (6) ‖ kind (1) ‖ number of marks (1) ‖ id (16) ‖ sequence (8) ‖ marks (40 each) ‖ zeros ‖ MAC (32).
    private borrowing func encode(_ marks: [HighWaterMark], sequence: UInt64) -> [UInt8] {
        precondition(marks.count <= Self.capacity, "more marks than a slot holds")
        var slot = Self.magic + [kind.code, UInt8(marks.count)] + id
        slot += bigEndian(sequence)
        for mark in marks { slot += bigEndian(mark.generation) + mark.digest }
        slot += [UInt8](repeating: 0, count: Self.macOffset - slot.count)
        return slot + MAC.tag(of: slot, using: key, context: Context(.highWaterMAC))
    }

    private borrowing func decode(_ slot: [UInt8], _ index: Int) -> Slot? {
        let body = Array(slot.prefix(Self.macOffset))
        guard
            (try? MAC.check(Array(slot[Self.macOffset...]), of: body, using: key, context: Context(.highWaterMAC)))
                != nil,
            Array(body[0..<6]) == Self.magic, body[6] == kind.code, Array(body[8..<24]) == id,
            body[7] <= Self.capacity, number64(body[24..<32]) < UInt64(Int64.max)
        else { return nil }
        let marks = (0..<Int(body[7])).map { number in
            let start = 32 + number * 40
            return HighWaterMark(
                generation: number64(body[start..<start + 8]), digest: Array(body[start + 8..<start + 40]))
        }
        return Slot(index: index, sequence: number64(body[24..<32]), marks: marks)
    }
}

extension HighWaterFile.Kind {
    fileprivate var code: UInt8 {
        switch self {
        case .vault: 1
        case .login: 2
        case .password: 3
        }
    }
}

private func bigEndian(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
}

private func number64(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
}
