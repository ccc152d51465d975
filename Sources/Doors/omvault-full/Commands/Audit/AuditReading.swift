// The reading of an audit: each password is read once, and only facts about it are kept.

internal import OMCrypto
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

struct AuditReading: ~Copyable {
    /// What the audit looks for.
    struct Wanted {
        /// Passwords of fewer bits are weak.
        var weak: Int?
        var isReused = false
        /// Passwords that are the same for so many seconds are old.
        var old: Int64?
        /// Items that expire within so many seconds are reported.
        var expiring: Int64?
        /// The list of breached passwords.
        var breached: BreachedFile?

        var kinds: [AuditFinding.Kind] {
            AuditFinding.Kind.allCases.filter { kind in
                switch kind {
                case .weak: weak != nil
                case .reused: isReused
                case .old: old != nil
                case .expiring: expiring != nil
                case .breached: breached != nil
                }
            }
        }
    }

    /// A longer value is a key or a text, and no password.
    static let longestPassword = 256

    private(set) var findings: [AuditFinding] = []
    /// How many values are no text, or too long.
    private(set) var skipped = 0
    /// How many items of this vault were not read.
    private(set) var unread = 0
    /// The items whose passwords were read. The passwords themselves are gone.
    private var places: [FieldPath] = []

    private let wanted: Wanted
    private let now: Int64
    /// The numbers of passwords with one tag. The key of the tags is of this run only, so a tag says nothing to anyone.
    private var groups: [[UInt8]: [Int]] = [:]
    private let tagKey = SecretBytes.random(32)
    /// The hashes for the list, one behind the other.
    private var hashes = SecretBuffer()

    var passwordCount: Int { places.count }
    /// Not nil if the list of breached passwords may be cut off.
    var listDoubt: String? { wanted.breached?.doubt }

    /// - Parameters:
    ///   - items: Sorted by name.
    ///   - now: Seconds since 1970.
    init(_ items: [Item], _ wanted: Wanted, from access: VaultAccess, now: Int64) throws(Failure) {
        (self.wanted, self.now) = (wanted, now)
        var line = ProgressLine(isQuiet: access.context.output.isQuiet)
        defer { line.end() }
        for (index, item) in items.enumerated() {
            noteExpiry(of: item)
            // Accident: two levels have an item of this name, and a name leads to one of them only.
            if index > 0, items[index - 1].name == item.name { unread += 1 } else { try read(item, from: access) }
            line.show("\(ProgressLine.bar(index + 1, of: items.count))  \(index + 1) of \(items.count) items")
        }
        compareGroups()
        try lookUp()
        let order = AuditFinding.Kind.allCases
        findings.sort { one, other in
            guard one.item == other.item else { return one.item.precedes(other.item) }
            return (order.firstIndex(of: one.kind) ?? 0) < (order.firstIndex(of: other.kind) ?? 0)
        }
    }

    private mutating func noteExpiry(of item: Item) {
        guard let expires = item.details.expires, let within = wanted.expiring, expires <= now + within else { return }
        findings.append(
            AuditFinding(item: item.name, field: nil, fact: .expiring(at: expires, isPast: expires <= now)))
    }

    private mutating func read(_ item: Item, from access: VaultAccess) throws(Failure) {
        guard let field = item.fields.first(where: { $0.name.text == "password" }), field.count > 0 else { return }
        guard field.count <= Self.longestPassword else {
            skipped += 1
            return
        }
        let path = FieldPath(item.name, field.name)
        guard let password = try Self.value(path, from: access) else {
            unread += 1
            return
        }
        guard password.withBytes(Self.isText) else {
            skipped += 1
            return
        }
        if let least = wanted.weak {
            let words = try Self.words(of: item, from: access)
            let bits = PasswordStrength.bits(of: password, knowing: words)
            if let bits, bits < Double(least) { note(path, .weak(bits: Int(bits))) }
        }
        if let age = wanted.old {
            let since = try PasswordAge.lastChange(of: path, item, from: access)
            if since <= now - age { note(path, .old(since: since)) }
        }
        if wanted.isReused { groups[try tag(of: password), default: []].append(places.count) }
        if let list = wanted.breached { hashes.append(try list.hash(of: password)) }
        places.append(path)
    }

    private mutating func note(_ path: FieldPath, _ fact: AuditFinding.Fact) {
        findings.append(AuditFinding(item: path.item, field: path.field, fact: fact))
    }

    /// Attack: a plain hash of a password, in memory or in a core file, can be tried against lists of passwords.
    private borrowing func tag(of password: borrowing SecretBytes) throws(Failure) -> [UInt8] {
        let tag: SecretBytes
        do throws(CryptoError) {
            tag = try password.withBytes { bytes throws(CryptoError) in try HMAC.tag(of: bytes, .sha256, key: tagKey) }
        } catch { throw Failure(error) }
        return tag.withBytes { [UInt8](copying: $0) }
    }

    private mutating func compareGroups() {
        for group in groups.values where group.count > 1 {
            // Each item has the names of a few others, so that a large group is not printed a thousand times.
            let first = group.prefix(AuditFinding.mostOthers + 1)
            for number in group {
                let others = first.filter { $0 != number }.prefix(AuditFinding.mostOthers).map { places[$0].item }
                note(places[number], .reused(others: others, count: group.count))
            }
        }
    }

    private mutating func lookUp() throws(Failure) {
        guard let list = wanted.breached, !places.isEmpty else { return }
        let all = hashes.withBytes { SecretBytes(copying: $0) }
        for (number, count) in try list.breaches(of: all) { note(places[number], .breached(count: count)) }
    }

    // MARK: - Values

    /// Nil if the value is gone since the list was read.
    private static func value(_ path: FieldPath, from access: VaultAccess) throws(Failure) -> SecretBytes? {
        do throws(Failure) {
            switch try access.perform(.secret(path, revision: nil)) {
            case .secret(let secret): return secret
            // The copies are items, and are read as such.
            case .hasCopies(_, let revision): return try access.perform(.secret(path, revision: revision)).secret()
            default: return nil
            }
        } catch {
            guard error.status == .notFound else { throw error }
            return nil
        }
    }

    private static func isText(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where bytes[index] < 0x20 || bytes[index] == 0x7F { return false }
        return (try? UTF8Span(validating: bytes)) != nil
    }

    /// What an attacker who knows the item tries first.
    private static func words(of item: Item, from access: VaultAccess) throws(Failure) -> GuessedWords {
        var words = GuessedWords()
        words.add(item.name.text)
        for field in item.fields
        where ["username", "email", "url"].contains(field.name.text) && field.count <= longestPassword {
            if let shown = field.shownValue {
                words.add(shown)
            } else if let value = try value(FieldPath(item.name, field.name), from: access) {
                value.withBytes { words.add($0) }
            }
        }
        return words
    }
}
