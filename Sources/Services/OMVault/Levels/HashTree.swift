// The hash tree over one level. Reading one item checks one path. A swapped, replayed, deleted or added record does not fit.
// Format: docs/formats/vault-format.md, "Hash tree".

internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// A 16-way tree in the order of the entries' keys. A node with up to 16 entries is a leaf, computed from their rows. A
/// larger node is a branch, stored as its children's 16 digests. Every node is checked when it is read, so a change
/// starts from a genuine state.
final class HashTree {
    private static let leafCapacity = 16
    private static let keyCount = 16

    private let keys: LevelKeys
    private let level: Int64
    private let root: Node
    private var findBranch: Statement
    private var findEntries: Statement
    /// The keys of the entries that were inserted since the tree was loaded or stored.
    private var inserted: Set<[UInt8]> = []

    private final class Node {
        /// One nibble per byte.
        let prefix: [UInt8]
        var content: Content
        var isChanged = false
        /// Whether rows of branches may lie below it that are no part of the tree: below a leaf, until it is stored.
        var hasStrays: Bool

        enum Content {
            case leaf([TreeEntry])
            /// A nil child was not loaded.
            case branch(digests: [[UInt8]], children: [Node?])
        }

        init(_ prefix: [UInt8], _ content: Content) {
            (self.prefix, self.content) = (prefix, content)
            if case .leaf = content { hasStrays = true } else { hasStrays = false }
        }

        /// A leaf that another one split into. All rows below the other one are dropped.
        init(splitOff prefix: [UInt8], _ entries: [TreeEntry]) {
            (self.prefix, content, isChanged, hasStrays) = (prefix, .leaf(entries), true, false)
        }

        static var noChildren: [Node?] { [Node?](repeating: nil, count: 16) }
    }

    /// Whether the level has no entry.
    var isEmpty: Bool { if case .leaf(let entries) = root.content { entries.isEmpty } else { false } }

    /// Whether an entry was inserted or removed since the tree was loaded or stored.
    var isChanged: Bool { root.isChanged }

    /// - Throws: ``VaultError/corrupt(_:)`` if the tree's root is not `digest`.
    static func load(
        _ database: borrowing Database, _ level: ProtectionLevel, _ keys: LevelKeys, digest: [UInt8]
    ) throws(VaultError) -> HashTree {
        let code = Int64(level.code)
        var branches = try storing { () throws(StorageError) in try database.prepare(VaultSchema.findBranch) }
        var entries = try storing { () throws(StorageError) in try database.prepare(VaultSchema.findEntries) }
        let root = try load([], digest: digest, keys, level: code, branches: &branches, entries: &entries)
        return HashTree(root, keys, level: code, branches: branches, entries: entries)
    }

    private init(
        _ root: Node, _ keys: LevelKeys, level: Int64, branches: consuming Statement, entries: consuming Statement
    ) {
        (self.keys, self.level, self.root) = (keys, level, root)
        findBranch = branches
        findEntries = entries
    }

    /// The root of a level without entries.
    static func emptyRoot(_ keys: LevelKeys) -> [UInt8] { digest(of: .leaf([]), [], keys) }

    /// The entry at `key`, or nil. Both answers are checked against the root.
    func entry(_ key: [UInt8]) throws(VaultError) -> TreeEntry? {
        guard case .leaf(let entries) = try leaf(for: key).content else { throw .corrupt(.tree) }
        return entries.first { $0.key == key }
    }

    /// Every entry of the level, in the order of their keys. This checks the whole tree.
    ///
    /// - Parameter checkInterruption: Called before each node. It throws to give up.
    func entries(
        in database: borrowing Database, _ checkInterruption: () throws(VaultError) -> Void
    ) throws(VaultError) -> [TreeEntry] {
        if case .branch(let digests, let children) = root.content, children.allSatisfy({ $0 == nil }) {
            var rows = try TreeRows.all(database, level: level)
            let all = try Self.children(
                of: root.prefix, with: digests, under: keys, from: &rows, checkInterruption: checkInterruption)
            root.content = .branch(digests: digests, children: all)
        }
        var found: [TreeEntry] = []
        var rest = [root]
        while let node = rest.popLast() {
            try checkInterruption()
            switch node.content {
            case .leaf(let entries): found += entries
            case .branch(_, let children):
                for nibble in (0..<16).reversed() {
                    if let loaded = children[nibble] { rest.append(loaded) } else { rest.append(try child(nibble, of: node)) }
                }
            }
        }
        return found
    }

    /// The branches that were loaded, by rising prefix. After ``entries()`` these are all of them.
    func branches() -> [TreeBranch] {
        var found: [TreeBranch] = []
        var rest = [root]
        while let node = rest.popLast() {
            guard case .branch(let digests, let children) = node.content else { continue }
            found.append(TreeBranch(prefix: node.prefix, digests: Array(digests.joined())))
            rest += (0..<16).reversed().compactMap { children[$0] }
        }
        return found
    }

    /// All stored entries and all damaged nodes, for a report of everything that is wrong.
    struct Inspection {
        /// The nodes that do not match their parents' digests. The nodes below them are not proven.
        var damaged: [[UInt8]] = []
        var entries: [TreeEntry] = []
    }

    static func inspect(
        _ database: borrowing Database, _ level: ProtectionLevel, _ keys: LevelKeys, digest: [UInt8]
    ) throws(VaultError) -> Inspection {
        let code = Int64(level.code)
        var branches = try storing { () throws(StorageError) in try database.prepare(VaultSchema.findBranch) }
        var entries = try storing { () throws(StorageError) in try database.prepare(VaultSchema.findEntries) }
        var found = Inspection()
        var rest: [(prefix: [UInt8], digest: [UInt8])] = [([], digest)]
        while let (prefix, expected) = rest.popLast() {
            do throws(VaultError) {
                guard prefix.count <= keyCount * 2 else { throw .corrupt(.tree) }
                let node = try load(
                    prefix, digest: expected, keys, level: code, branches: &branches, entries: &entries)
                switch node.content {
                case .leaf(let leaf): found.entries += leaf
                case .branch(let digests, _):
                    for nibble in (0..<16).reversed() { rest.append((prefix + [UInt8(nibble)], digests[nibble])) }
                }
            } catch {
                guard error.isDamage else { throw error }
                found.damaged.append(prefix)
                found.entries += (try? Self.entries(prefix, code, &entries, upTo: Int.max)) ?? []
            }
        }
        return found
    }

    // MARK: - Changing

    func insert(_ entry: TreeEntry) throws(VaultError) {
        try change(entry.key) { entries in
            let index = entries.firstIndex { !$0.key.lexicographicallyPrecedes(entry.key) } ?? entries.count
            if index < entries.count, entries[index].key == entry.key {
                entries[index] = entry
            } else {
                entries.insert(entry, at: index)
            }
        }
        inserted.insert(entry.key)
    }

    func remove(_ key: [UInt8], in database: borrowing Database) throws(VaultError) {
        try change(key) { entries in entries.removeAll { $0.key == key } }
        inserted.remove(key)
        let level = level
        try storing { () throws(StorageError) in
            var drop = try database.prepare(VaultSchema.dropEntry)
            try drop.bind(1, level)
            try drop.bind(2, key)
            _ = try drop.step()
        }
    }

    /// Digests every changed node from the leaves up, and stores the branches and the inserted entries. In the order of
    /// their keys, SQLite finds the place of most of them beside the last one.
    ///
    /// - Returns: The new root.
    func store(in database: borrowing Database) throws(VaultError) -> [UInt8] {
        var save = try storing { () throws(StorageError) in try database.prepare(VaultSchema.saveBranch) }
        var drop = try storing { () throws(StorageError) in try database.prepare(VaultSchema.dropBranches) }
        var saveEntry = try storing { () throws(StorageError) in try database.prepare(VaultSchema.saveEntry) }
        let digest = try store(root, &save, &drop, entries: &saveEntry)
        inserted = []
        return digest
    }

    private func store(
        _ node: Node, _ save: inout Statement, _ drop: inout Statement, entries saveEntry: inout Statement
    ) throws(VaultError) -> [UInt8] {
        guard node.isChanged else { return Self.digest(of: node.content, node.prefix, keys) }
        // Attack: an attacker plants branches below a leaf, where they stay unseen until the leaf splits. So they are
        // dropped, before the branches of a leaf that split are stored.
        if node.hasStrays { try write(&drop, node.prefix, node.prefix + [0xff]) }
        (node.isChanged, node.hasStrays) = (false, false)
        switch node.content {
        case .branch(var digests, let children):
            for (nibble, child) in children.enumerated() {
                if let child, child.isChanged { digests[nibble] = try store(child, &save, &drop, entries: &saveEntry) }
            }
            node.content = .branch(digests: digests, children: children)
            try write(&save, node.prefix, Array(digests.joined()))
        case .leaf(let entries):
            for entry in entries where inserted.contains(entry.key) { try write(&saveEntry, entry) }
        }
        return Self.digest(of: node.content, node.prefix, keys)
    }

    private func write(_ save: inout Statement, _ entry: TreeEntry) throws(VaultError) {
        let level = level
        try storing { () throws(StorageError) in
            try save.bind(1, level)
            try save.bind(2, entry.key)
            try save.bind(3, entry.digest)
            try save.bind(4, entry.row)
            _ = try save.step()
        }
    }

    private func write(_ statement: inout Statement, _ prefix: [UInt8], _ value: [UInt8]) throws(VaultError) {
        let level = level
        try storing { () throws(StorageError) in
            try statement.bind(1, level)
            try statement.bind(2, prefix)
            try statement.bind(3, value)
            _ = try statement.step()
        }
    }

    private func change(_ key: [UInt8], _ body: (inout [TreeEntry]) -> Void) throws(VaultError) {
        let leaf = try leaf(for: key) { $0.isChanged = true }
        guard case .leaf(var entries) = leaf.content else { throw .corrupt(.tree) }
        // Without this the array would be copied for each change.
        leaf.content = .leaf([])
        body(&entries)
        leaf.content = .leaf(entries)
        split(leaf)
    }

    private func split(_ node: Node) {
        guard case .leaf(let entries) = node.content, entries.count > Self.leafCapacity else { return }
        let children: [Node?] = (0..<16).map { nibble in
            let child = Node(
                splitOff: node.prefix + [UInt8(nibble)],
                entries.filter { Self.nibble($0.key, node.prefix.count) == nibble })
            split(child)
            return child
        }
        let blank = [[UInt8]](repeating: [], count: 16)
        node.content = .branch(digests: blank, children: children)
    }

    // MARK: - Loading

    private func leaf(for key: [UInt8], _ visit: (Node) -> Void = { _ in }) throws(VaultError) -> Node {
        var node = root
        visit(node)
        while case .branch(_, let children) = node.content {
            let nibble = Self.nibble(key, node.prefix.count)
            if let loaded = children[nibble] { node = loaded } else { node = try child(nibble, of: node) }
            visit(node)
        }
        return node
    }

    private func child(_ nibble: Int, of node: Node) throws(VaultError) -> Node {
        guard case .branch(let digests, var children) = node.content else { throw .corrupt(.tree) }
        if let child = children[nibble] { return child }
        guard node.prefix.count < Self.keyCount * 2 else { throw .corrupt(.tree) }
        let child = try Self.load(
            node.prefix + [UInt8(nibble)], digest: digests[nibble], keys, level: level, branches: &findBranch,
            entries: &findEntries)
        children[nibble] = child
        node.content = .branch(digests: digests, children: children)
        return child
    }

    /// All nodes below a branch, from rows in the order of their keys.
    private static func children(
        of prefix: [UInt8], with digests: [[UInt8]], under keys: LevelKeys, from rows: inout TreeRows,
        checkInterruption: () throws(VaultError) -> Void
    ) throws(VaultError) -> [Node?] {
        guard prefix.count < keyCount * 2 else { throw .corrupt(.tree) }
        var children = Node.noChildren
        for (nibble, expected) in digests.enumerated() {
            try checkInterruption()
            let prefix = prefix + [UInt8(nibble)]
            let stored = try rows.branch(at: prefix, checkInterruption)
            let content: Node.Content
            if let stored {
                content = .branch(digests: try split(stored), children: Node.noChildren)
            } else {
                content = .leaf(
                    try checked(
                        rows.entries(
                            from: key(prefix, filledWith: 0), to: key(prefix, filledWith: 15), atMost: leafCapacity + 1,
                            checkInterruption)))
            }
            guard digest(of: content, prefix, keys) == expected else { throw .corrupt(.tree) }
            let child = Node(prefix, content)
            // Below a branch only after its digests were compared.
            if case .branch(let digests, _) = content {
                let all = try Self.children(
                    of: prefix, with: digests, under: keys, from: &rows, checkInterruption: checkInterruption)
                child.content = .branch(digests: digests, children: all)
            }
            children[nibble] = child
        }
        return children
    }

    private static func load(
        _ prefix: [UInt8], digest expected: [UInt8], _ keys: LevelKeys, level: Int64,
        branches findBranch: inout Statement, entries findEntries: inout Statement
    ) throws(VaultError) -> Node {
        let content: Node.Content
        if let digests = try branch(prefix, level, &findBranch) {
            content = .branch(digests: digests, children: Node.noChildren)
        } else {
            content = .leaf(try entries(prefix, level, &findEntries))
        }
        guard digest(of: content, prefix, keys) == expected else { throw .corrupt(.tree) }
        return Node(prefix, content)
    }

    private static func branch(
        _ prefix: [UInt8], _ level: Int64, _ find: inout Statement
    ) throws(VaultError) -> [[UInt8]]? {
        let found: [UInt8]? = try storing { () throws(StorageError) in
            try find.bind(1, level)
            try find.bind(2, prefix)
            defer { find.reset() }
            return try find.step() ? find.bytes(0) : nil
        }
        return try found.map(split)
    }

    /// The digests of a stored branch.
    private static func split(_ stored: [UInt8]) throws(VaultError) -> [[UInt8]] {
        guard stored.count == 16 * KeyedHash.count else { throw .corrupt(.tree) }
        return (0..<16).map { Array(stored[$0 * KeyedHash.count..<($0 + 1) * KeyedHash.count]) }
    }

    private static func entries(
        _ prefix: [UInt8], _ level: Int64, _ find: inout Statement, upTo capacity: Int = leafCapacity
    ) throws(VaultError) -> [TreeEntry] {
        let found: [TreeEntry] = try storing { () throws(StorageError) in
            try find.bind(1, level)
            try find.bind(2, key(prefix, filledWith: 0))
            try find.bind(3, key(prefix, filledWith: 15))
            defer { find.reset() }
            var found: [TreeEntry] = []
            // One entry more than fits shows that a branch is missing. This need not read a million rows to find out.
            while found.count <= capacity, try find.step() {
                found.append(TreeEntry(key: find.bytes(0), digest: find.bytes(1), row: find.number(2)))
            }
            return found
        }
        return try checked(found, upTo: capacity)
    }

    private static func checked(
        _ found: [TreeEntry], upTo capacity: Int = leafCapacity
    ) throws(VaultError) -> [TreeEntry] {
        guard found.count <= capacity, found.allSatisfy({ $0.key.count == keyCount && $0.digest.count == 32 })
        else { throw .corrupt(.tree) }
        return found
    }

    private static func digest(of content: Node.Content, _ prefix: [UInt8], _ keys: LevelKeys) -> [UInt8] {
        var message: [UInt8] = []
        switch content {
        case .leaf(let entries):
            message.reserveCapacity(entries.count * (keyCount + KeyedHash.count))
            for entry in entries {
                message += entry.key
                message += entry.digest
            }
            return KeyedHash.hash(message, using: keys.digests, context: Context(.treeLeaf, .bytes(prefix)))
        case .branch(let digests, _):
            message.reserveCapacity(digests.count * KeyedHash.count)
            for digest in digests { message += digest }
            return KeyedHash.hash(message, using: keys.digests, context: Context(.treeNode, .bytes(prefix)))
        }
    }

    private static func nibble(_ key: [UInt8], _ index: Int) -> Int {
        Int(index % 2 == 0 ? key[index / 2] >> 4 : key[index / 2] & 15)
    }

    private static func key(_ prefix: [UInt8], filledWith nibble: UInt8) -> [UInt8] {
        var key = [UInt8](repeating: nibble << 4 | nibble, count: keyCount)
        for (index, digit) in prefix.enumerated() {
            key[index / 2] = index % 2 == 0 ? digit << 4 | nibble : key[index / 2] & 0xf0 | digit
        }
        return key
    }
}
