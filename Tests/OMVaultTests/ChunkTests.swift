// Large values in chunks: where they are, what shares them, what deletes them, and what is refused.

import Foundation
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import Testing

@testable import OMItems
@testable import OMVault

/// Bytes that differ at every place, so that a part in another's place shows.
func largeBytes(_ count: Int, seed: Int = 1) -> [UInt8] {
    // A plain loop: in a debug build, `map` takes half a second for a megabyte.
    [UInt8](unsafeUninitializedCapacity: count) { bytes, made in
        while made < count {
            bytes[made] = UInt8(truncatingIfNeeded: (made &+ seed) &* 2_654_435_761 >> 16)
            made += 1
        }
    }
}

/// Refuses to write chunks, for a draft that needs none.
func noChunks(_ count: Int, _ chunk: (Int) throws(VaultError) -> SecretBytes) throws(VaultError) -> ChunkedValue {
    throw .tooLarge
}

extension Home {
    func put(_ item: String, _ field: String, _ bytes: [UInt8]) throws {
        try unlock().edit { edit throws(VaultError) in
            try edit.put(SecretBytes(copying: bytes), at: FieldPath(ItemName(item), FieldName(field)))
        }
    }

    func addLarge(_ item: String, _ fields: [(String, [UInt8])], level: ProtectionLevel? = nil) throws {
        try unlock().edit { edit throws(VaultError) in
            try edit.add(ItemName(item), level: level) { draft throws(VaultError) in
                for (field, bytes) in fields { try draft.put(SecretBytes(copying: bytes), at: FieldName(field)) }
            }
        }
    }

    func bytes(_ item: String, _ field: String, revision: UInt64? = nil) throws -> [UInt8] {
        try unlock().secret(FieldPath(ItemName(item), FieldName(field)), revision: revision)
            .withBytes { bytes in bytes.withUnsafeBufferPointer { Array($0) } }
    }

    /// The rows of `chunks`: row number and body.
    func chunks() throws -> [Int64: [UInt8]] {
        let database = try VaultSchema.open(vault)
        var find = try database.prepare("SELECT id, body FROM chunks")
        var rows: [Int64: [UInt8]] = [:]
        while try find.step() { rows[find.number(0)] = find.bytes(1) }
        return rows
    }

    func replaceChunk(_ row: Int64, by body: [UInt8]) throws {
        let database = try VaultSchema.open(vault)
        var save = try database.prepare("UPDATE chunks SET body = ?2 WHERE id = ?1")
        try save.bind(1, row)
        try save.bind(2, body)
        _ = try save.step()
    }

    func spool(_ bytes: [UInt8], blocks: Int) throws -> SpooledValue {
        var spool = try ValueSpool(besideVault: vault)
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + blocks)
            try spool.append(bytes.span.extracting(start..<end))
            start = end
        }
        return try spool.finish()
    }
}

/// A stream of a backup in memory.
private final class ByteSource {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    func read(_ count: Int) throws(VaultError) -> [UInt8] {
        defer { bytes = bytes.dropFirst(count) }
        return Array(bytes.prefix(count))
    }
}

@Suite("Large values") struct ChunkTests {
    private let home: Home
    private let large = largeBytes(600_000)
    private let item: ItemName

    init() throws {
        item = try ItemName("a")
        home = try Home()
        try home.create()
    }

    private func history(_ number: Int) throws {
        try home.unlock().changePolicy { policy throws(VaultError) in try policy.keepVersions(number) }
    }

    @Test("a content of 64 KiB stays in its record and in format 1; one byte more moves its largest value")
    func border() throws {
        // head 26 + name 1 + number 2, and for each field 1 + 1 + 4
        let most = (64 << 10) - 29 - 12 - 10
        try home.addLarge("a", [("x", largeBytes(10)), ("y", largeBytes(most))])
        #expect(try VaultSchema.open(home.vault).version() == 1)
        try home.put("a", "y", largeBytes(most + 1))
        #expect(try VaultSchema.open(home.vault).version() == 2)
        #expect(try home.chunks().count == 1)
        #expect(try home.bytes("a", "y") == largeBytes(most + 1) && home.bytes("a", "x") == largeBytes(10))
        #expect(try home.bytes("a", "y", revision: 1) == largeBytes(most))
    }

    @Test("of several values the largest move, until the content has at most 64 KiB; shown values stay")
    func largestFirst() throws {
        try home.addLarge("a", [("s", largeBytes(30_000)), ("l", large), ("m", largeBytes(40_000)), ("n", largeBytes(9))])
        // 3 chunks of l and 1 of m
        #expect(try home.chunks().count == 4)
        for (field, count) in [("s", 30_000), ("m", 40_000), ("n", 9)] {
            #expect(try home.bytes("a", field) == largeBytes(count), "\(field)")
        }
        #expect(try home.bytes("a", "l") == large)
        #expect(throws: VaultError.tooLarge) {
            try home.unlock().edit { edit throws(VaultError) in
                try edit.add(ItemName("shown"), level: nil) { draft throws(VaultError) in
                    let text = secret(String(repeating: "x", count: 1000))
                    for number in 0..<70 { try draft.put(text, at: FieldName("s\(number)"), isShown: true) }
                }
            }
        }
    }

    @Test(
        "a value that is taken in chunk by chunk is read chunk by chunk, whatever the blocks",
        arguments: [1, 7, 261_887, 261_888, 261_889, 523_776, 523_777])
    func chunks(count: Int) throws {
        let bytes = largeBytes(count)
        let value = try home.spool(bytes, blocks: count < 10 ? 1 : 100_001)
        try home.unlock().edit { edit throws(VaultError) in
            try edit.add(item, level: nil) { draft throws(VaultError) in try draft.put(value, at: FieldName("f")) }
        }
        let vault = try home.unlock()
        let path = try FieldPath(item, FieldName("f"))
        var read: [UInt8] = []
        for index in 0..<(count + Vault.chunkCount - 1) / Vault.chunkCount {
            try vault.chunk(index, of: path).withBytes { chunk in chunk.withUnsafeBufferPointer { read += $0 } }
        }
        #expect(read == bytes)
        let last = (count + Vault.chunkCount - 1) / Vault.chunkCount
        for index in [-1, last] {
            #expect(throws: VaultError.noField(try FieldName("f"), of: item)) { _ = try vault.chunk(index, of: path) }
        }
        #expect(try home.bytes("a", "f") == bytes)
    }

    @Test("a value above 1 MiB comes only in chunks, one above 64 MiB is refused, and an item has at most 256 MiB")
    func limits() throws {
        let path = try FieldPath(item, FieldName("f"))
        let value = try home.spool(largeBytes(1 << 20 | 1), blocks: 1 << 20)
        var change = ItemChange()
        try change.set.put(value, at: path.field)
        _ = try home.unlock().perform(.add(item, level: nil, change))
        #expect(throws: VaultError.largeValue(count: 1 << 20 | 1, revision: 1, digest: value.digest)) {
            _ = try home.unlock().secret(path)
        }
        guard case .large(1_048_577, 1, value.digest) = try home.unlock().perform(.secret(path, revision: nil)) else {
            Issue.record("not told that it is large")
            return
        }
        guard case .secrets(let found, let values) = try home.unlock().perform(.secrets(item, revision: nil)) else { return }
        #expect(found.fields.map(\.count) == [1 << 20 | 1] && values.names.isEmpty)
        let block = largeBytes(1 << 20)
        var spool = try ValueSpool(besideVault: home.vault)
        for _ in 0..<64 { try spool.append(block.span) }
        #expect(throws: VaultError.tooLarge) { try spool.append(block.span.extracting(0..<1)) }
        let whole = try spool.finish()
        #expect(whole.count == Item.maximumFieldCount)
        var draft = ItemDraft(name: item, created: 1, modified: 1)
        for number in 0..<4 { try draft.put(whole, at: FieldName("f\(number)")) }
        #expect(throws: VaultError.tooLarge) { try draft.put(secret("x"), at: FieldName("g")) }
    }

    @Test("a value is never read on from another item that got its name and its revision meanwhile")
    func replacedWhileRead() throws {
        let path = try FieldPath(item, FieldName("f"))
        let one = try home.spool(largeBytes(1 << 21), blocks: 1 << 20)
        var change = ItemChange()
        try change.set.put(one, at: path.field)
        _ = try home.unlock().perform(.add(item, level: nil, change))
        let first = ItemRequest.chunk(0, of: path, revision: 1, digest: one.digest)
        guard case .secret = try home.unlock().perform(first) else { return }
        try home.unlock().edit { edit throws(VaultError) in try edit.purge(item) }
        var other = ItemChange()
        try other.set.put(try home.spool(largeBytes(1 << 21, seed: 9), blocks: 1 << 20), at: path.field)
        _ = try home.unlock().perform(.add(item, level: nil, other))
        #expect(throws: VaultError.changedMeanwhile(item, revision: 1)) {
            _ = try home.unlock().perform(.chunk(1, of: path, revision: 1, digest: one.digest))
        }
    }

    @Test("a short text that is in a chunk because its item has many can be shown")
    func shownFromChunk() throws {
        try home.addLarge("a", (0..<80).map { ("f\($0)", Array(repeating: UInt8(ascii: "a"), count: 900 + $0)) })
        try #require(try value(1).count > 960)
        var change = ItemChange()
        change.shown = [try FieldName("f79"), try FieldName("f0")]
        let changed = try home.unlock().perform(.update(item, change, ifRevision: nil))
        guard case .changed(let found, _) = changed else { return }
        #expect(found.fields[79].shownValue == String(repeating: "a", count: 979) && found.fields[0].shownValue != nil)
        #expect(try home.unlock().item(item).fields == found.fields && home.unlock().verify(deep: true).findings.isEmpty)
    }

    /// Adds an item as an earlier release did: contents of version 1 above 64 KiB, whose versions have the same value.
    private func addLong(versions: Int, _ bytes: [UInt8]) throws {
        _ = try home.unlock().write { snapshot throws(VaultError) in
            let level = ProtectionLevel.whenUnlocked
            guard let keys = snapshot.vault.keys[level] else { return }
            var (id, last): ([UInt8], RowReference?) = (Random.bytes(16), nil)
            for number in 1...versions {
                var content: [UInt8] = [0, 0, 0, 0, 1, 0]
                content.append(number: UInt16(number - 1))
                content += [UInt8](repeating: 0, count: 16) + [0, 1] + Array("a".utf8) + [0, 2, 1] + Array("l".utf8)
                content.append(number: UInt32(bytes.count))
                content += bytes + [1] + Array("n".utf8) + [0, 0, 0, 1, UInt8(number)]
                for index in 0..<4 { content[index] = UInt8(truncatingIfNeeded: content.count >> (24 - 8 * index)) }
                content += [UInt8](repeating: 0, count: (256 - content.count % 256) % 256)
                let header = Record.Header(
                    level: level, isDeleted: false, id: id, revision: UInt64(number), epoch: snapshot.header.epoch,
                    parent: last?.digest, salt: Random.bytes(16))
                last = try snapshot.add(SecretBytes(copying: content), header, keys, previous: last?.row)
            }
            guard let last else { return }
            try snapshot.insert(TreeEntry(keys.key(of: item), last), level)
        }
    }

    @Test(
        "a rekey, a level change and a copy move the large values of earlier releases into chunks that the versions share",
        arguments: ["rekey", "level", "copy"])
    func shortened(change: String) throws {
        let bytes = largeBytes(100_000)
        try addLong(versions: 3, bytes)
        let long = "SELECT count(*) FROM records WHERE length(body) > 66000"
        #expect(try VaultSchema.open(home.vault).version() == 1 && VaultSchema.open(home.vault).number(long) == 3)
        switch change {
        case "rekey":
            let slots = try VaultFile.open(home.vault, device: home.device()).slots
            _ = try home.unlock().rekey(
                slots: [.init(id: 1, try NewSlot(password: Password(secret("pass word")), .floor))], expecting: slots)
        case "level": try home.unlock().edit { edit throws(VaultError) in try edit.setLevel(item, .highest) }
        default:
            try home.unlock().edit { edit throws(VaultError) in
                try edit.copy(item, to: ItemName("b"))
                try edit.purge(item)
                try edit.rename(ItemName("b"), to: item)
            }
        }
        #expect(try VaultSchema.open(home.vault).version() == 2 && VaultSchema.open(home.vault).number(long) == 0)
        #expect(try home.chunks().count == (change == "copy" ? 2 : 1))
        for revision in 1...3 as ClosedRange<UInt64> {
            #expect(try home.bytes("a", "l", revision: revision) == bytes)
            #expect(try home.bytes("a", "n", revision: revision) == [UInt8(revision)])
        }
        let report = try home.unlock().verify(deep: true)
        #expect(report.findings.isEmpty && report.strays == 0, "\(report)")
    }

    @Test("the write-ahead log of an open vault is short again after the change that follows a large one")
    func shortLog() throws {
        let value = try home.spool(largeBytes(8 << 20), blocks: 1 << 20)
        let vault = try home.unlock()
        try vault.edit { edit throws(VaultError) in
            try edit.add(item, level: nil) { draft throws(VaultError) in try draft.put(value, at: FieldName("f")) }
        }
        let log = { try FileManager.default.attributesOfItem(atPath: home.vault + "-wal")[.size] as? Int ?? 0 }
        try #require(try log() > 8 << 20)
        try vault.edit { edit throws(VaultError) in try edit.put(secret("x"), at: FieldPath(item, FieldName("g"))) }
        #expect(try log() <= Database.logCount)
    }

    @Test("a change with more than 16 MiB in memory or more than 64 large values is refused for that")
    func tooMuchAtOnce() throws {
        var values = FieldValues()
        for number in 0..<16 { try values.put(SecretBytes(count: 1 << 20) { _ in }, at: FieldName("f\(number)")) }
        #expect(throws: VaultError.tooMuchAtOnce) { try values.put(secret("x"), at: FieldName("g")) }
        let value = try home.spool([1], blocks: 1)
        for number in 0..<64 { try values.put(value, at: FieldName("l\(number)")) }
        #expect(throws: VaultError.tooMuchAtOnce) { try values.put(value, at: FieldName("g")) }
    }

    @Test("versions share a value that does not change, and the last version that names it takes it along")
    func sharing() throws {
        try history(2)
        try home.addLarge("a", [("l", large), ("x", [1])])
        try home.put("a", "x", [2])
        #expect(try home.chunks().count == 3)
        let other = largeBytes(300_000, seed: 5)
        try home.put("a", "l", other)
        #expect(try home.chunks().count == 5)
        #expect(try home.bytes("a", "l", revision: 2) == large && home.bytes("a", "l") == other)
        #expect(throws: VaultError.unchanged) { try home.put("a", "l", other) }
        try home.put("a", "x", [3])
        #expect(try home.chunks().count == 5)
        // Revision 2 was the last with the first value.
        try home.put("a", "x", [4])
        #expect(try home.chunks().count == 2 && home.bytes("a", "l") == other)
        try home.unlock().edit { edit throws(VaultError) in try edit.restore(item, revision: 3) }
        try history(0)
        #expect(try home.chunks().count == 2 && home.bytes("a", "l") == other)
        try home.unlock().edit { edit throws(VaultError) in try edit.trash(item) }
        #expect(try home.chunks().count == 2)
        try home.unlock().edit { edit throws(VaultError) in try edit.purgeTrash() }
        #expect(try home.chunks().isEmpty)
        #expect(try home.unlock().verify(deep: true).findings.isEmpty)
    }

    @Test("a copy has chunks of its own, shared by its versions, and stays when the item is purged")
    func copies() throws {
        try home.addLarge("a", [("l", large), ("x", [1])])
        try home.put("a", "x", [2])
        let copy = try ItemName("b")
        try home.unlock().edit { edit throws(VaultError) in try edit.copy(item, to: copy, level: ProtectionLevel.allCases[0]) }
        #expect(try home.chunks().count == 6)
        try home.unlock().edit { edit throws(VaultError) in try edit.purge(item) }
        #expect(try home.chunks().count == 3)
        #expect(try home.bytes("b", "l") == large && home.bytes("b", "l", revision: 1) == large)
        #expect(try home.unlock().verify(deep: true).findings.isEmpty)
    }

    @Test("a level change and a rekey seal every chunk again; the bytes before no longer open")
    func sealedAgain() throws {
        try home.addLarge("a", [("l", large)])
        try home.put("a", "x", [2])
        for change in ["level", "keys"] {
            let before = try home.chunks()
            if change == "level" {
                try home.unlock().edit { edit throws(VaultError) in try edit.setLevel(item, ProtectionLevel.allCases[0]) }
            } else {
                let vault = try home.unlock()
                let slots = try VaultFile.open(home.vault, device: home.device()).slots
                _ = try vault.rekey(
                    slots: [.init(id: 1, try NewSlot(password: Password(secret("pass word")), .floor))], expecting: slots)
            }
            let after = try home.chunks()
            #expect(Set(after.keys) == Set(before.keys) && after.allSatisfy { before[$0.key] != $0.value }, "\(change)")
            #expect(try home.bytes("a", "l", revision: 1) == large && home.bytes("a", "l") == large, "\(change)")
            #expect(try home.unlock().verify(deep: true).findings.isEmpty, "\(change)")
            let row = try #require(before.keys.first)
            try home.replaceChunk(row, by: before[row]!)
            #expect(throws: VaultError.corrupt(.record), "\(change)") { _ = try home.bytes("a", "l") }
            try home.replaceChunk(row, by: after[row]!)
        }
    }

    @Test("a changed, cut, missing or other chunk is refused, and no byte of it comes out")
    func tampered() throws {
        try home.addLarge("a", [("l", largeBytes(261_888 + 300))])
        try home.addLarge("b", [("l", largeBytes(261_888 + 300))])
        let whole = try home.chunks()
        // The short one of a: its item id is that of the record.
        let id = try home.unlock().item(item).id
        let (row, body) = try #require(whole.first { $0.value.count < 1000 && Array($0.value[4..<20]) == id })
        let other = try #require(whole.first { $0.value.count < 1000 && $0.key != row })
        func refused(_ bytes: [UInt8], _ what: String) throws {
            try home.replaceChunk(row, by: bytes)
            #expect(throws: VaultError.corrupt(.record), "\(what)") { _ = try home.bytes("a", "l") }
        }
        for offset in Array(0..<60) + [100, body.count - 1] {
            var changed = body
            changed[offset] ^= 1
            try refused(changed, "byte \(offset)")
        }
        try refused(Array(body.dropLast()), "one byte less")
        try refused(Array(body.dropLast(256)), "256 bytes less")
        try refused(body + [UInt8](repeating: 0, count: 256), "256 bytes more")
        try refused(other.value, "another item's")
        try refused([], "empty")
        try home.replaceChunk(row, by: body)
        #expect(try home.bytes("a", "l") == largeBytes(262_188))
        try home.tamper("DELETE FROM chunks WHERE id = \(row)")
        #expect(throws: VaultError.corrupt(.record)) { _ = try home.bytes("a", "l") }
        // The other item is whole, and so is everything else of this one.
        #expect(try home.bytes("b", "l") == largeBytes(262_188))
        try home.tamper("UPDATE chunks SET body = zeroblob(19000000)")
        #expect(throws: VaultError.corrupt(.record)) { _ = try home.bytes("b", "l") }
    }

    @Test("a chunk whose padding is not zeros is refused, although its box opens")
    func padding() throws {
        try home.addLarge("a", [("l", largeBytes(70_001))])
        let row = try #require(home.chunks().first)
        let chunk = try ValueChunk(decoding: row.value)
        for byte in [0, 1] as [UInt8] {
            let body = try home.unlock().read { snapshot throws(VaultError) -> [UInt8] in
                guard let keys = snapshot.vault.keys[chunk.header.level] else { return [] }
                let padded = SecretBytes(copying: largeBytes(70_001) + [UInt8](repeating: byte, count: 143))
                let context = Context(.chunk, .bytes(snapshot.header.id), .bytes(chunk.header.encoded))
                let box = AEAD.seal(padded, using: keys.chunkKey(chunk.header), context: context)
                return ValueChunk(header: chunk.header, box: box.bytes).stored
            }
            try home.replaceChunk(row.key, by: body)
            if byte == 0 {
                #expect(try home.bytes("a", "l") == largeBytes(70_001))
            } else {
                #expect(throws: VaultError.corrupt(.record)) { _ = try home.bytes("a", "l") }
            }
        }
    }

    @Test("a rekey leaves no chunk under the old keys, also none that no version names")
    func noOldChunks() throws {
        try home.addLarge("a", [("l", largeBytes(70_000))])
        try home.tamper("INSERT INTO chunks SELECT 7, body FROM chunks")
        let slots = try VaultFile.open(home.vault, device: home.device()).slots
        _ = try home.unlock().rekey(
            slots: [.init(id: 1, try NewSlot(password: Password(secret("pass word")), .floor))], expecting: slots)
        #expect(try home.chunks().count == 1 && home.chunks()[7] == nil)
    }

    @Test("two chunks of one value that changed places are refused")
    func swapped() throws {
        try home.addLarge("a", [("l", large)])
        let full = try home.chunks().filter { $0.value.count == ValueChunk.maximumStoredCount }
        let (one, other) = (full.keys.sorted()[0], full.keys.sorted()[1])
        try home.replaceChunk(one, by: full[other]!)
        try home.replaceChunk(other, by: full[one]!)
        #expect(throws: VaultError.corrupt(.record)) { _ = try home.bytes("a", "l") }
        let report = try home.unlock().verify(deep: true)
        #expect(report.findings.count == 1 && report.strays == 0, "\(report)")
    }

    @Test("verify names the item and the versions that are still whole, and counts chunks of no item")
    func verified() throws {
        try home.addLarge("a", [("l", large)])
        try home.put("a", "l", [1])
        try home.addLarge("b", [("l", large)])
        try home.put("b", "x", [1])
        #expect(try home.unlock().verify(deep: true).findings.isEmpty)
        let ids = try (home.unlock().item(item).id, home.unlock().item(ItemName("b")).id)
        for (id, revision, readable) in [(ids.0, 1 as UInt64?, [2]), (ids.1, nil, [])] {
            let row = try #require(try home.chunks().first { Array($0.value[4..<20]) == id })
            try home.tamper("DELETE FROM chunks WHERE id = \(row.key)")
            let report = try home.unlock().verify(deep: true)
            let finding = try #require(report.findings.first { $0.revision == revision })
            #expect(finding.error == .corrupt(.record) && finding.readable.map(Int.init) == readable, "\(report)")
        }
        // The damaged item can go, and nothing of it stays.
        try home.unlock().edit { edit throws(VaultError) in
            try edit.purge(item)
            try edit.purge(ItemName("b"))
        }
        #expect(try home.chunks().isEmpty)
        try home.tamper("INSERT INTO chunks VALUES (7, x'00')")
        #expect(try home.unlock().verify(deep: true).strays == 1)
    }

    @Test("verify goes on behind a version with a damaged chunk, names each of them, and counts no older chunk as a stray")
    func verifiedFurther() throws {
        for seed in 1...4 {
            let bytes = largeBytes(300_000, seed: seed)
            if seed == 1 { try home.addLarge("a", [("l", bytes)]) } else { try home.put("a", "l", bytes) }
        }
        for revision in [4, 2] as [UInt64] {
            let row = try ValueChunk.row(value(revision).ids[1])
            try home.tamper("DELETE FROM chunks WHERE id = \(row)")
        }
        let report = try home.unlock().verify(deep: true)
        #expect(report.findings.map(\.revision) == [nil, 2] && report.findings.allSatisfy(\.isOfChunk), "\(report)")
        #expect(report.findings.allSatisfy { $0.readable == [3, 1] && $0.item == item }, "\(report)")
        #expect(report.strays == 0 && report.versions == 2 && report.items == 0, "\(report)")
        // One chunk is missing, and one is too many: the second is still counted.
        try home.tamper("INSERT INTO chunks VALUES (7, x'00')")
        #expect(try home.unlock().verify(deep: true).strays == 1)
        // Behind a damaged record the older versions and their chunks are the item's. Only the chunks that no record names
        // any more are strays: those of revision 3.
        try home.tamper("UPDATE records SET body = zeroblob(400) WHERE id = 3", "DELETE FROM chunks WHERE id = 7")
        let broken = try home.unlock().verify(deep: true)
        #expect(broken.findings.map(\.revision) == [3, nil] && broken.strays == 2, "\(broken)")
        #expect(broken.findings.allSatisfy { $0.readable.isEmpty }, "\(broken)")
    }

    /// The large value of a version.
    private func value(_ revision: UInt64) throws -> ChunkedValue {
        let values = try home.unlock().read { snapshot throws(VaultError) in
            try snapshot.open(item, revision: revision).content.chunkedValues
        }
        return try #require(values.first)
    }

    /// Adds a version whose value has the same chunks and the digest `digest`, as no writer of ours does.
    private func forge(digest: [UInt8]) throws {
        let old = try value(1)
        _ = try home.unlock().write { snapshot throws(VaultError) in
            guard let (level, entry) = try snapshot.find(item), let keys = snapshot.vault.keys[level] else { return }
            let newest = try snapshot.newest(entry, level)
            let opened = try snapshot.open(newest, at: entry)
            let draft = try opened.content.draft(at: 5) { _ in ChunkedValue(count: old.count, digest: digest, ids: old.ids) }
            let header = Record.Header(
                level: level, isDeleted: false, id: newest.header.id, revision: newest.header.revision + 1,
                epoch: snapshot.header.epoch, parent: entry.digest, salt: Random.bytes(16))
            let reference = try snapshot.add(draft, kept: Int(header.revision) - 1, header, keys, previous: entry.row)
            try snapshot.insert(TreeEntry(entry.key, reference), level)
        }
    }

    @Test("a value is checked again if another version names the same chunks with another digest")
    func otherDigest() throws {
        try home.addLarge("a", [("l", large)])
        try forge(digest: [UInt8](repeating: 9, count: 32))
        try forge(digest: value(1).digest)
        let report = try home.unlock().verify(deep: true)
        #expect(report.findings.map(\.revision) == [2] && report.findings[0].readable == [3, 1], "\(report)")
    }

    @Test("sealing chunks again, and reading them for a backup, end when another thread wants to lock")
    func interrupted() throws {
        try home.addLarge("a", [("l", large)])
        let interruption = Interruption()
        let vault = try VaultFile.open(home.vault, device: home.device()).open(
            with: home.classKeys(), keepingOpen: KeepOpenOptions(unless: interruption, budget: MemoryBudget(bytes: 0)))
        for isBackup in [false, true] {
            #expect(throws: VaultError.storage(.busy)) {
                _ = try vault.write { snapshot throws(VaultError) in
                    guard let (level, entry) = try snapshot.find(item), let keys = snapshot.vault.keys[level] else { return }
                    let opened = try snapshot.open(try snapshot.newest(entry, level), at: entry)
                    let (ids, header) = (opened.content.chunkIDs, opened.header)
                    interruption.begin()
                    defer { interruption.end() }
                    if isBackup {
                        _ = try snapshot.chunk(ids[0], of: header)
                    } else {
                        try snapshot.sealAgain(Set(ids), of: header, for: header, keys)
                    }
                }
            }
        }
        #expect(try home.bytes("a", "l") == large)
    }

    @Test("a backup with a chunk that no version names is not restored")
    func chunkTooMany() throws {
        let site = try BackupHome()
        try site.home.addLarge("a", [("l", large)])
        try site.backUp()
        let source = ByteSource(try site.bytes)
        let file = try BackupFile.open(site.path)
        let key = try file.slots[0].key(stretching: secret("pass word"))
        let keys = BackupKeys(
            try file.unlock(file.slots[0], with: key, device: site.home.device()).root, vault: file.header.id)
        var reader = try BackupReader(source.read)
        var writer = BackupWriter(format: 2, portable: false, takenAt: 1)
        var forged: [UInt8] = []
        let write = { (bytes: [UInt8]) throws(VaultError) in forged += bytes }
        var last: ValueChunk?
        while let part = try reader.next() {
            if case .chunk(let chunk, _) = part {
                last = chunk
            } else if let chunk = last.take() {
                let header = ValueChunk.Header(
                    level: chunk.header.level, item: chunk.header.item, id: [UInt8](repeating: 0xff, count: 16),
                    epoch: chunk.header.epoch, salt: chunk.header.salt)
                try writer.append(ValueChunk(header: header, box: chunk.box), write)
            }
            try writer.append(part, write)
        }
        try writer.finish(keys, write)
        try site.write(forged)
        try site.loseVault()
        #expect(throws: VaultError.corrupt(.backup)) {
            try site.open(site.home.device()).restore(
                to: site.home.vault, device: site.home.device(), replacesLiving: true)
        }
        #expect(!FileManager.default.fileExists(atPath: site.home.vault))
    }

    @Test("the chunks of an item whose record is damaged go with it, and those of other items stay")
    func purgedByID() throws {
        try home.addLarge("a", [("l", large)])
        try home.addLarge("b", [("l", largeBytes(70_000))])
        let found = try home.unlock().item(item)
        try home.tamper("UPDATE records SET body = zeroblob(400) WHERE substr(body, 5, 16) = x'\(Hex.encode(found.id))'")
        let entry = try #require(try home.unlock().verify(deep: true).findings.first?.entryPath)
        let key = stride(from: 0, to: 32, by: 2).map { entry[$0] << 4 | entry[$0 + 1] }
        try home.unlock().edit { edit throws(VaultError) in _ = try edit.purge(id: key) }
        #expect(try home.chunks().count == 1 && home.bytes("b", "l") == largeBytes(70_000))
    }

    @Test("each malformed content with chunks is refused")
    func malformed() throws {
        let ids = [[UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16)]
        func content(_ value: ChunkedValue) throws -> [UInt8] {
            var draft = ItemDraft(name: item, created: 1, modified: 2)
            try draft.put(value, at: FieldName("f"), isShown: false)
            return try draft.finish(kept: 0, noChunks).withBytes { span in span.indices.map { span[$0] } }
        }
        func read(_ bytes: [UInt8]) throws -> ChunkedValue? {
            try ItemContent(opened: SecretBytes(copying: bytes), format: 2).chunkedValues.first
        }
        let value = ChunkedValue(count: 261_889, digest: [UInt8](repeating: 9, count: 32), ids: ids)
        let bytes = try content(value)
        #expect(try read(bytes) == value)
        // head 27, details 11, number of fields 2, flags 40, name 41…42, length 43…46, digest 47, ids 79 and 95
        #expect(bytes[40] == 2 && Array(bytes[79..<95]) == ids[0])
        for (offset, changed) in [
            (40, [3]), (43, [0, 0, 0, 0]), (43, [0, 3, 0xff, 0]), (43, [0, 8, 0, 0]), (43, [4, 0, 0, 1]), (95, ids[0]),
        ] {
            var other = bytes
            other.replaceSubrange(offset..<offset + changed.count, with: changed)
            #expect(throws: VaultError.corrupt(.record), "\(offset) \(changed)") { _ = try read(other) }
        }
        #expect(throws: VaultError.corrupt(.record)) {
            _ = try ItemContent(opened: SecretBytes(copying: bytes), format: 1)
        }
    }

    @Test("a backup brings the chunks back, and a vault that lacks one is not backed up")
    func backup() throws {
        let site = try BackupHome()
        try site.home.addLarge("a", [("l", large)])
        try site.home.put("a", "x", [1])
        try site.home.addLarge("here", [("l", large)], level: .highest)
        for isPortable in [false, true] {
            let path = "\(site.path).\(isPortable)"
            try site.backUp(portable: isPortable, to: path)
            #expect(try BackupFile.open(path).format == 2)
        }
        for isPortable in [true, false] {
            try site.loseVault()
            let backup = try BackupFile.open("\(site.path).\(isPortable)")
            let key = try backup.slots[0].key(stretching: secret("pass word"))
            try backup.unlock(backup.slots[0], with: key, device: site.home.device()).restore(
                to: site.home.vault, device: site.home.device(), acceptsRollback: true, replacesLiving: true)
            #expect(try site.home.bytes("a", "l") == large && site.home.bytes("a", "l", revision: 1) == large)
            #expect(try site.home.unlock().verify(deep: true).findings.isEmpty)
            #expect(try site.home.chunks().count == (isPortable ? 3 : 6))
        }
        // A vault that lacks a chunk is not backed up.
        let row = try #require(try site.home.chunks().keys.first)
        try site.home.tamper("DELETE FROM chunks WHERE id = \(row)")
        #expect(throws: VaultError.corrupt(.record)) { try site.backUp() }
    }
}
