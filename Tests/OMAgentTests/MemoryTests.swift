// The agent's memory as root sees it, from outside. Before `lock` the keys are found, which proves the search; after it
// they are not.

import COMSystem
import Foundation
import Glibc
import OMRecords
import OMSecrets
import OMStorage
import Testing

@testable import OMAgent
@testable import OMVault

@Suite("The agent's memory", .enabled(if: geteuid() == 0, "only root may look")) struct MemoryTests {
    private static let item = "an item that nobody else would name so"
    private static let value = "a value that stands nowhere else, 4711"

    @Test("after lock there is no key of when-unlocked, no password and no item; before there was the key")
    func afterLock() throws {
        let home = try AgentHome(options: ["--no-memfd-secret"])
        let needles = try work(home)
        let process = try home.process()
        for (what, needle) in needles where what.hasPrefix("key") {
            #expect(try copies(of: needle, in: process) > 0, "before lock: \(what)")
        }
        try home.client.lock(home.place, forgets: false)
        for (what, needle) in needles {
            #expect(try copies(of: needle, in: process) == 0, "after lock: \(what)")
        }
        // What is to stay is there, so the search still works.
        let first = try classKey(home, ProtectionLevel(.afterFirstUnlock))
        #expect(try copies(of: first, in: process) > 0)
        try home.client.lock(home.place, forgets: true)
        #expect(try copies(of: first, in: process) == 0)
    }

    @Test("where the system has hidden memory, root finds no key even while the vault is open")
    func hidden() throws {
        let home = try AgentHome()
        let needles = try work(home)
        guard try home.client.status().memory == 2 else { return }
        for (what, needle) in needles { #expect(try copies(of: needle, in: home.process()) == 0, "\(what)") }
    }

    @Test("no core file can be taken, and the process says so of itself")
    func cores() throws {
        let home = try AgentHome()
        let process = try home.process()
        let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        #expect(status.contains("NoNewPrivs:\t1\n"))
        #expect(status.contains("CoreDumping:\t0\n"))
    }

    /// Unlocks, reads, changes; then what should not be found later.
    private func work(_ home: AgentHome) throws -> [(String, [UInt8])] {
        try home.makeVault()
        try home.unlock()
        var values = FieldValues()
        try values.put(bytes(Self.value), at: FieldName("password"))
        let name = try ItemName(Self.item)
        guard case .reply(.changed) = try home.client.perform(home.place, .add(name, level: nil, values)),
            case .reply(.secrets) = try home.client.perform(home.place, .secrets(name, revision: nil)),
            case .reply(.items) = try home.client.perform(home.place, .items(trashed: false))
        else { throw AgentError.misbehaved }
        let path = FieldPath(name, try FieldName("password"))
        for _ in 0..<20 {
            guard case .reply(.secret) = try home.client.perform(home.place, .secret(path, revision: nil)) else {
                throw AgentError.misbehaved
            }
        }
        let key = try classKey(home, .whenUnlocked)
        return [
            ("key of the class", key), ("key of its records", try recordsKey(key)),
            ("the password", Array("pass word".utf8)), ("the value", Array(Self.value.utf8)),
            ("the name", Array(Self.item.utf8)),
        ]
    }

    private func classKey(_ home: AgentHome, _ level: ProtectionLevel) throws -> [UInt8] {
        var found: [UInt8] = []
        try home.open().classKeys().withKey(of: level) { key in
            key.withExposedBytes { bytes in found = bytes.indices.map { bytes[$0] } }
        }
        return found
    }

    private func recordsKey(_ classKey: [UInt8]) throws -> [UInt8] {
        let key = try Key<Deriving>(readFrom: SecretBytes(copying: classKey))
        return key.derive(Context(.levelRecords), as: Deriving.self).withExposedBytes { bytes in
            bytes.indices.map { bytes[$0] }
        }
    }

    /// How often the bytes stand in memory that the process can read.
    private func copies(of needle: [UInt8], in process: Int32) throws -> Int {
        let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        try #require(memory >= 0)
        defer { close(memory) }
        var found = 0
        for line in try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8).split(separator: "\n") {
            let fields = line.split(separator: " ")
            let bounds = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard bounds.count == 2, fields[1].hasPrefix("r"), !line.contains("[v") else { continue }
            found += count(needle, memory, bounds[0], bounds[1])
        }
        return found
    }

    private func count(_ needle: [UInt8], _ memory: Int32, _ start: UInt64, _ end: UInt64) -> Int {
        let window = 1 << 20
        var buffer = [UInt8](repeating: 0, count: window)
        var found = 0
        var position = start
        while position < end {
            let wanted = min(window, Int(end - position))
            let got = buffer.withUnsafeMutableBytes { pread(memory, $0.baseAddress, wanted, off_t(position)) }
            guard got >= needle.count else { break }
            found += buffer.withUnsafeBytes { bytes in
                occurrences(of: needle, in: UnsafeRawBufferPointer(rebasing: bytes[..<got]))
            }
            if position + UInt64(got) >= end { break }
            position += UInt64(got - needle.count + 1)
        }
        return found
    }

    private func occurrences(of needle: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int {
        guard let base = bytes.baseAddress else { return 0 }
        var found = 0
        var offset = 0
        while offset + needle.count <= bytes.count,
            let hit = memchr(base + offset, Int32(needle[0]), bytes.count - offset - needle.count + 1)
        {
            if memcmp(hit, needle, needle.count) == 0 { found += 1 }
            offset = UnsafeRawPointer(hit) - base + 1
        }
        return found
    }
}
