// A small vault with one byte changed, at every offset in turn: every read is right, or is refused.

import Foundation
import Glibc
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import TestSupport
import Testing

@testable import OMItems
@testable import OMVault

/// `OMVAULT_WHOLE=1 swift test` flips every byte. Otherwise the test flips the first bytes of each page, which SQLite needs
/// to find its way, and a part of all bytes other than zero.
private let isWhole = Sweep.isWhole

@Suite("Every byte of a vault") struct FlipTests {
    private static let parts = 4

    @Test("a flipped byte of the file is refused with its own error, or changes no value", arguments: 0..<parts)
    func file(part: Int) throws {
        let site = try FlipSite()
        let truth = site.truth
        try #require(truth.values.allSatisfy { if case .value = $0 { true } else { false } }, "\(truth)")
        var tally = Tally()
        for offset in try offsets(site.vault, part) {
            try site.reset(flipping: site.home.vault, at: offset)
            let found = site.read()
            for (what, answer) in found where answer != truth[what] {
                // A header that names another device has no log that this device could verify.
                let isForeign = what == "log" && answer == .refused("noLogHere")
                #expect(answer.isRefusal || isForeign, "\(what) at \(offset): \(answer), not \(String(describing: truth[what]))")
            }
            // A vault that verifies as whole is whole: verify reports no success if a read is refused.
            let isQuiet = found["verify"] == truth["verify"]
            let isWhole = found.allSatisfy { $0.value == truth[$0.key] || $0.key == "log" }
            #expect(!isQuiet || isWhole, "verify found no damage at \(offset): \(found.filter { $0.value != truth[$0.key] })")
            tally.count(found.values.first { $0.isRefusal } ?? found["file"] ?? .refused("nothing"))
        }
        print("flips of part \(part): \(tally)")
        #expect(tally.classes["read", default: 0] > 0 && tally.classes.count > 3, "\(tally)")
    }

    @Test("a flipped byte of the password slot is refused before a password is charged or stretched")
    func passwordSlot() throws {
        let site = try FlipSite()
        let slot = try VaultFile.open(site.home.vault, device: site.home.device()).slots[0]
        let place = try #require(site.vault.firstRange(of: Data(slot.encoded)))
        #expect(place.count == KeySlot.count)
        let counted = try site.counter()
        for offset in place {
            try site.reset(flipping: site.home.vault, at: offset)
            let error = #expect(throws: VaultError.self, "\(offset)") { _ = try site.home.unlock() }
            #expect([.corrupt(.slot), .corrupt(.header)].contains(error), "\(offset): \(String(describing: error))")
            #expect(try site.counter() == counted, "\(offset) was charged")
        }
        try site.reset()
        #expect(try site.home.unlock().value("one", "x") == "newer value of one")
        #expect(try site.counter() != counted)
    }

    @Test("without the vault's marks, a flipped byte of the recovery slot opens nothing")
    func recoverySlot() throws {
        let site = try FlipSite()
        let slots = try VaultFile.open(site.home.vault, device: nil).slots
        let place = try #require(site.vault.firstRange(of: Data(slots[1].encoded)))
        var tally = Tally()
        for offset in place {
            try site.reset(flipping: site.home.vault, at: offset)
            let error = #expect(throws: VaultError.self, "\(offset)") {
                let file = try VaultFile.open(site.home.vault, device: nil)
                guard let slot = file.slots.first(where: { $0.kind == .recovery }) else {
                    throw VaultError.noSlot(2)
                }
                _ = try file.unlock(slot, with: try slot.key(stretching: site.code.secret))
            }
            guard let error else { continue }
            #expect(
                [.corrupt(.slot), .cannotUnlock, .unsupportedStretch, .noSlot(2)].contains(error), "\(offset): \(error)")
            tally.count(.refused("\(error)"))
        }
        print("flips of the recovery slot: \(tally)")
        #expect(tally.classes["cannotUnlock", default: 0] > 100)
    }

    @Test("a flipped byte of the write-ahead log never brings an older value back")
    func log() throws {
        let site = try FlipSite(keepsLog: true)
        let log = try #require(site.log)
        #expect(site.read()["one"] == .value("newest value of one"))
        var tally = Tally()
        for offset in stride(from: 0, to: log.count, by: isWhole ? 1 : 127) {
            try site.reset(flipping: site.home.vault + "-wal", at: offset)
            let found = site.read()
            for what in ["one", "items", "verify"] {
                let answer = found[what] ?? .refused("nothing")
                #expect(answer.isRefusal || answer == site.truth[what], "\(what) at \(offset): \(answer)")
            }
            tally.count(found["one"] ?? .refused("nothing"))
        }
        print("flips of the write-ahead log: \(tally)")
        #expect(tally.classes["rolledBack(level)", default: 0] > 10, "\(tally)")
    }

    @Test("a flipped byte of the high-water file makes the vault look neither older nor newer")
    func marks() throws {
        let site = try FlipSite()
        let (path, bytes) = try site.home.marks()
        var tally = Tally()
        let offsets = Array(stride(from: 0, to: bytes.count, by: isWhole ? 1 : 11))
        for offset in offsets {
            try site.reset(flipping: path, at: offset)
            let found = site.read()
            for (what, answer) in found where answer != site.truth[what] {
                #expect(answer.isRefusal, "\(what) at \(offset): \(answer)")
            }
            tally.count(found["one"] ?? .refused("nothing"))
        }
        print("flips of the marks: \(tally)")
        // One of its two slots is whole, and that is enough.
        #expect(tally.classes["read"] == offsets.count, "\(tally)")
    }

    private func offsets(_ bytes: Data, _ part: Int) throws -> [Int] {
        bytes.indices.filter { offset in
            offset % Self.parts == part && (isWhole || offset % 4096 < 24 || bytes[offset] != 0 && offset % 61 == 0)
        }
    }
}

/// The answer to a question.
private enum Answer: Equatable {
    case value(String)
    case refused(String)

    /// Whether the error means damage, and not a missing, locked or wrong thing.
    var isRefusal: Bool {
        guard case .refused(let error) = self else { return false }
        return [
            "corrupt(header)", "corrupt(slot)", "corrupt(level)", "corrupt(tree)", "corrupt(record)", "storage(corrupt)",
            "storage(laterFormat)", "rolledBack(header)", "rolledBack(level)", "unseenHere", "found",
        ].contains(error)
    }
}

/// The number of flips for each result.
private struct Tally: CustomStringConvertible {
    var classes: [String: Int] = [:]

    mutating func count(_ answer: Answer) {
        if case .refused(let error) = answer { classes[error, default: 0] += 1 } else { classes["read", default: 0] += 1 }
    }

    var description: String {
        classes.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}

/// A small vault with slots of three kinds, items of four levels, versions, trash, a tombstone and free pages; and the
/// bytes of its files, so that the test can put them back.
private final class FlipSite {
    let home: Home
    let code: RecoveryCode
    let vault: Data
    /// The write-ahead log, if the test needs one.
    private(set) var log: Data?
    private(set) var truth: [String: Answer] = [:]
    private let key: VaultKeyFile
    private var device: [(path: String, bytes: Data)] = []

    init(keepsLog: Bool = false) throws {
        home = try Home()
        key = .random()
        var kept: RecoveryCode?
        try home.create { kept = try? RecoveryCode(typed: $0.text()) }
        code = kept!
        _ = try home.unlock().addSlot(NewSlot(keyFile: key))
        try home.add("one", ["x": "value of one"])
        try home.unlock().edit { edit throws(VaultError) in
            try edit.put(secret("newer value of one"), at: FieldPath(ItemName("one"), FieldName("x")))
        }
        try home.add("two", ["x": "value of two"], level: ProtectionLevel(.always, deviceOnly: true))
        try home.add("three", ["x": "value of three"], level: ProtectionLevel(.afterFirstUnlock))
        try home.add("four", ["x": "value of four"], level: .highest)
        try home.add("large", ["x": String(repeating: "large ", count: 1_500)])
        try home.unlock().edit { edit throws(VaultError) in
            try edit.trash(ItemName("four"))
            try edit.purge(ItemName("large"))
        }
        try home.save("pristine")
        do {
            let database = try VaultSchema.open(home.vault)
            #expect(try database.number("PRAGMA freelist_count") > 0)
            if keepsLog {
                // While this connection is open, the close of the writer's connection does not move the log into the file.
                try home.unlock().edit { edit throws(VaultError) in
                    try edit.put(secret("newest value of one"), at: FieldPath(ItemName("one"), FieldName("x")))
                }
                log = try Data(contentsOf: URL(filePath: home.vault + "-wal"))
            }
            vault = try Data(contentsOf: URL(filePath: home.vault))
            try #require(try database.number("PRAGMA freelist_count") > 0 && log?.isEmpty != true)
        }
        try keepDevice()
        try reset()
        truth = read()
    }

    private func keepDevice() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: home.deviceFolder) where name.hasSuffix(".mark") {
            let path = home.deviceFolder + "/" + name
            device.append((path, try Data(contentsOf: URL(filePath: path))))
        }
    }

    /// Every file unchanged, except one bit of the byte at `offset` of one of them.
    func reset(flipping path: String? = nil, at offset: Int = 0) throws {
        for end in ["-wal", "-shm"] { unlink(home.vault + end) }
        var files = device + [(home.vault, vault)]
        if let log { files.append((home.vault + "-wal", log)) }
        for (file, whole) in files {
            var bytes = whole
            if file == path { bytes[offset] ^= 1 << UInt8(offset % 8) }
            let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            close(descriptor)
            try #require(count == bytes.count)
        }
    }

    func counter() throws -> Data {
        let path = try #require(device.first { $0.path.contains("/password-") }).path
        return try Data(contentsOf: URL(filePath: path))
    }

    /// All readable data, opened through the key file.
    func read() -> [String: Answer] {
        var answers: [String: Answer] = [:]
        func ask(_ what: String, _ question: () throws -> String?) {
            do { answers[what] = try question().map { .value($0) } ?? .refused("found") } catch {
                answers[what] = .refused(Self.name(error))
            }
        }
        ask("file") {
            let file = try VaultFile.open(home.vault, device: home.device())
            ask("log") {
                let report = try file.auditReport()
                return report.fault == nil
                    ? "\(report.entries.count) entries, the last \(Hex.encode(report.entries.last?.mac ?? []))" : nil
            }
            ask("always") { try file.openAlways().value("two", "x") }
            ask("unlock") {
                guard let slot = file.slots.first(where: { $0.kind == .keyFile }) else { throw VaultError.noSlot(3) }
                let vault = try file.unlock(slot, with: key.key())
                // First, as in a new process: SQLite checks the cells of a page once, when it reads the page.
                ask("verify") {
                    let report = try vault.verify(deep: true)
                    // `pending` is bound to nothing: an attacker who can write the file can request a purge.
                    let counts = [report.items, report.trashed, report.tombstones, report.versions]
                    return report.findings.isEmpty && report.strays == 0 ? "\(counts)" : nil
                }
                for name in ["one", "two", "three"] { ask(name) { try vault.value(name, "x") } }
                ask("older") {
                    try vault.secret(FieldPath(ItemName("one"), FieldName("x")), revision: 1).withBytes { bytes in
                        String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
                    }
                }
                ask("history") { "\(try vault.history(ItemName("one")))" }
                ask("items") { "\(try vault.items())" }
                ask("trash") { "\(try vault.items(trashed: true))" }
                ask("missing") {
                    do {
                        return "\(try vault.item(ItemName("large")))"
                    } catch VaultError.noItem { return "not there" }
                }
                return "open"
            }
            return "\(file.slots.map(\.id)) \(file.policy)"
        }
        return answers
    }

    private static func name(_ error: any Error) -> String {
        switch error {
        case VaultError.corrupt(let part): "corrupt(\(part))"
        case VaultError.rolledBack(let part): "rolledBack(\(part))"
        case VaultError.storage(.laterFormat): "storage(laterFormat)"
        case VaultError.storage(let error): "storage(\(error))"
        default: "\(error)"
        }
    }
}
