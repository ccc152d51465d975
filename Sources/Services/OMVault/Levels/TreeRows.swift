// The rows of a whole tree, read in one pass: a list of ten thousand items would need nine thousand searches otherwise.

internal import OMItems
internal import OMRecords
internal import OMStorage
internal import OMSystem

/// The rows of one level's tree, in the order of their keys. Nothing is checked: the tree compares each node with its digest.
struct TreeRows: ~Copyable {
    private var branches: Statement
    private var entries: Statement
    /// The next rows. Nil behind the last one.
    private var branch: (prefix: [UInt8], digests: [UInt8])?
    private var entry: TreeEntry?

    static func all(_ database: borrowing Database, level: Int64) throws(VaultError) -> TreeRows {
        let branches = try storing { () throws(StorageError) in try database.prepare(VaultSchema.findBranches) }
        let entries = try storing { () throws(StorageError) in try database.prepare(VaultSchema.findEntries) }
        var rows = TreeRows(branches, entries)
        try rows.bind(level)
        try rows.nextBranch()
        try rows.nextEntry()
        return rows
    }

    private init(_ branches: consuming Statement, _ entries: consuming Statement) {
        self.branches = branches
        self.entries = entries
    }

    private mutating func bind(_ level: Int64) throws(VaultError) {
        try storing { () throws(StorageError) in
            try branches.bind(1, level)
            try entries.bind(1, level)
            try entries.bind(2, [UInt8](repeating: 0, count: 16))
            try entries.bind(3, [UInt8](repeating: 0xff, count: 16))
        }
    }

    /// The digests of the branch at a prefix, or nil. Ask in the order of the prefixes.
    ///
    /// - Parameter checkInterruption: Called before each row that belongs to no node. An attacker may have added a million.
    mutating func branch(
        at prefix: [UInt8], _ checkInterruption: () throws(VaultError) -> Void
    ) throws(VaultError) -> [UInt8]? {
        while let next = branch, next.prefix.lexicographicallyPrecedes(prefix) {
            try checkInterruption()
            try nextBranch()
        }
        guard let next = branch, next.prefix == prefix else { return nil }
        try nextBranch()
        return next.digests
    }

    /// The entries from `first` to `last`, and at most `most` of them. Ask in the order of the keys.
    mutating func entries(
        from first: [UInt8], to last: [UInt8], atMost most: Int, _ checkInterruption: () throws(VaultError) -> Void
    ) throws(VaultError) -> [TreeEntry] {
        while let next = entry, next.key.lexicographicallyPrecedes(first) {
            try checkInterruption()
            try nextEntry()
        }
        var found: [TreeEntry] = []
        while found.count < most, let next = entry, !last.lexicographicallyPrecedes(next.key) {
            found.append(next)
            try nextEntry()
        }
        return found
    }

    private mutating func nextBranch() throws(VaultError) {
        branch = try storing { () throws(StorageError) in
            // A prefix of another type or length is no node's.
            while try branches.step() {
                if branches.number(2) == 1 { return (branches.bytes(0), branches.bytes(1)) }
            }
            return nil
        }
    }

    private mutating func nextEntry() throws(VaultError) {
        entry = try storing { () throws(StorageError) in
            try entries.step() ? TreeEntry(key: entries.bytes(0), digest: entries.bytes(1), row: entries.number(2)) : nil
        }
        // A key that is too long, but belongs to the tree's range.
        if let entry, entry.key.isEmpty { throw .corrupt(.tree) }
    }
}
