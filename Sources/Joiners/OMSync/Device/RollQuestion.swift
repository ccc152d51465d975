// Entries of the roll between which the user has to choose. Format: docs/formats/sync.md, "Roll" and "Tables".

internal import OMItems
internal import OMParcels
internal import OMVault

/// The rows of two entries of one number that exclude each other, and of the user's choice.
enum RollQuestion {
    private static let (open, chosen): (UInt8, UInt8) = (3, 4)
    private static let mostOfOneSigner = 4

    /// Keeps the entries of a question that a remote brought, and drops those whose question is decided.
    static func keep(_ choice: RollChoice, _ access: inout SyncAccess) throws(VaultError) {
        let count = choice.roll.entries.count
        var kept: [UInt32: Int] = [:]
        for entry in try entries(access) {
            guard entry.contents.number < count else {
                kept[entry.contents.signer, default: 0] += 1
                continue
            }
            try access.set(.note, [open] + entry.digest, nil)
        }
        for entry in choice.undecided where try access.row(.note, [open] + entry.digest) == nil {
            // Attack: a member signs thousands of entries of one number, so that the file grows and no user finds the right one.
            guard kept[entry.contents.signer, default: 0] < mostOfOneSigner else { continue }
            kept[entry.contents.signer, default: 0] += 1
            try access.set(.note, [open] + entry.digest, entry.encoded)
        }
    }

    /// By rising number and digest.
    static func entries(_ access: borrowing SyncAccess) throws(VaultError) -> [RollEntry] {
        var entries: [RollEntry] = []
        for row in try access.rows(.note) where row.key.first == open {
            guard let entry = try? RollEntry(decoding: row.body) else { throw .corrupt(.sync) }
            entries.append(entry)
        }
        return entries.sorted { $0.contents.number < $1.contents.number }
    }

    /// The digests of the entries that the user chose.
    static func chosen(_ access: borrowing SyncAccess) throws(VaultError) -> Set<[UInt8]> {
        Set(try access.rows(.note).filter { $0.key.first == chosen }.map { Array($0.key.dropFirst()) })
    }

    /// Notes the user's choice. The next exchange takes it.
    static func choose(_ entry: RollEntry, _ access: inout SyncAccess) throws(VaultError) {
        try access.set(.note, [chosen] + entry.digest, [1])
        for other in try entries(access) where other.contents.number == entry.contents.number {
            try access.set(.note, [open] + other.digest, nil)
        }
    }
}
