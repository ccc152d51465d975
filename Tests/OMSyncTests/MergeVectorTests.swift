// The published cases of the merge: Tests/Golden/sync/README.md.

import Foundation
import OMItems
import OMParcels
import OMRecords
import OMSync
import OMSyncKeys
import TestSupport
import Testing

@Suite("The published cases of the merge") struct MergeVectorTests {
    private struct File: Codable {
        let link: String
        let cases: [Case]
    }

    private struct Case: Codable {
        let id: String
        let x: Version
        let y: Version
        let version: Version
        let copy: Copy?
    }

    private struct Copy: Codable {
        let id: String
        let version: Version
    }

    private struct Version: Codable {
        let seen: [[UInt64]]
        let dot: [UInt64]
        let time: Int64
        let created: Int64
        let state: String
        let level: UInt8
        let lowerings: [StoredLowering]
        let origin: String?
        let name: String?
        let type: UInt8
        let expires: Int64
        let tags: [String]
        let fields: [String: Field]
    }

    private struct Field: Codable {
        let hash: String
        let shown: Bool
    }

    private struct StoredLowering: Codable {
        let from: UInt8
        let seen: [[UInt64]]
    }

    private static let path = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Golden/sync/merge.json").standardized

    @Test("each case gives the named version and copy, in both orders")
    func cases() throws {
        let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: Self.path))
        let link = linkKey(try Self.bytes(file.link))
        #expect(file.cases.count == 200)
        for (index, vector) in file.cases.enumerated() {
            let (item, x, y) = (try Self.bytes(vector.id), try Self.version(vector.x), try Self.version(vector.y))
            for (one, other) in [(x, y), (y, x)] {
                let merge = Merge(of: item, one, other)
                #expect(merge.version == (try Self.version(vector.version)), "case \(index)")
                var items = MergePlan(ModelItems(versions: [item: one]), link: link)
                items.take(other, of: item)
                let copies = items.changes.filter { $0.key != item }
                let expected = try vector.copy.map { [try Self.bytes($0.id): try Self.version($0.version)] } ?? [:]
                #expect(copies == expected, "case \(index)")
            }
        }
    }

    @Test("a second implementation, in Python and written from the page alone, gives the same for each case")
    func reference() async throws {
        let program = Self.path.deletingLastPathComponent().appending(path: "reference.py").path
        let ran = try await run(["/usr/bin/python3", program, Self.path.path], in: TestFolder())
        #expect(ran.output == "200 cases, 0 wrong\n", "\(ran)")
    }

    // MARK: - Reading

    private static func bytes(_ hex: String) throws -> [UInt8] {
        let digits = Array(hex.utf8)
        try #require(digits.count.isMultiple(of: 2))
        return try stride(from: 0, to: digits.count, by: 2).map { index in
            try #require(UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16))
        }
    }

    private static func dot(_ numbers: [UInt64]) throws -> Dot {
        try #require(numbers.count == 2)
        return Dot(device: UInt32(numbers[0]), count: numbers[1])
    }

    private static func version(_ stored: Version) throws -> SyncedVersion {
        let states: [String: SyncedVersion.State] = ["live": .live, "trashed": .trashed, "purged": .purged]
        let level = { (code: UInt8) in try #require(ProtectionLevel.Availability(rawValue: code)) }
        var details = ItemDetails()
        (details.type, details.expires) = (ItemType(code: stored.type), stored.expires == 0 ? nil : stored.expires)
        details.setTags(adding: stored.tags.map { ItemTag(checked: $0) }, removing: [])
        return SyncedVersion(
            seen: try #require(Seen(try stored.seen.map(dot))), dot: try dot(stored.dot), time: stored.time,
            created: stored.created, state: try #require(states[stored.state]), level: try level(stored.level),
            lowerings: try stored.lowerings.map { lowering in
                Lowering(from: try level(lowering.from), seen: try #require(Seen(try lowering.seen.map(dot))))
            },
            origin: try stored.origin.map(bytes), name: stored.name.map { ItemName(checked: $0) }, details: details,
            fields: Dictionary(
                uniqueKeysWithValues: try stored.fields.map { name, field in
                    (FieldName(checked: name), SyncedVersion.Field(digest: try bytes(field.hash), isShown: field.shown))
                }))
    }
}
