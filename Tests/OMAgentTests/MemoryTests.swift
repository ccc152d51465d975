// The agent's memory as root sees it from outside. Before `lock` the search finds the keys, which proves the search.
// After `lock` it finds none.

import COMSystem
import Foundation
import Glibc
import OMAuth
import OMRecords
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMItems
@testable import OMVault

@Suite("The agent's memory", .onOwnThreads, .enabled(if: geteuid() == 0, "only root may look")) struct MemoryTests {
    private static let item = "an item with a name of its own"
    private static let field = "a field of another name than any"
    private static let value = "a value that occurs nowhere else, 4711"
    private static let wanted = "words for no other search, 0815"

    @Test(
        "R40 after lock the memory has no key of when-unlocked, no password and no item; before lock it has the key",
        arguments: [["--no-memfd-secret"], []])
    func afterLock(options: [String]) throws {
        let home = try AgentHome(options: options)
        let needles = try work(home)
        let process = try home.process()
        // Hidden memory is hidden from this search too. Then the search looks for copies outside it.
        let isSeen = try home.client.status().memory != 2
        #expect(isSeen || options.isEmpty)
        // This includes the cached records.
        for (what, needle) in needles where (what.hasPrefix("class key") || what.hasPrefix("the item")) && isSeen {
            #expect(try copies(of: needle, in: process) > 0, "before lock: \(what)")
        }
        try home.client.lock(home.paths, forgets: false)
        for (what, needle) in needles {
            #expect(try copies(of: needle, in: process) == 0, "after lock: \(what)")
        }
        // The expected data is still there, so the search still works.
        let first = try classKey(home, ProtectionLevel(.afterFirstUnlock))
        #expect(try copies(of: first, in: process) > 0 || !isSeen)
        try home.client.lock(home.paths, forgets: true)
        #expect(try copies(of: first, in: process) == 0)
    }

    @Test("root finds no key in hidden memory, even while the vault is open")
    func hidden() throws {
        let home = try AgentHome()
        let needles = try work(home)
        guard try home.client.status().memory == 2 else { return }
        for (what, needle) in needles { #expect(try copies(of: needle, in: home.process()) == 0, "\(what)") }
    }

    @Test("cached records go with another unlock, at the time-out, with a change and with a purge")
    func remembered() async throws {
        let home = try AgentHome(options: ["--no-memfd-secret"])
        _ = try work(home)
        let process = try home.process()
        func isThere() throws -> Bool { try copies(of: Array(Self.value.utf8), in: process) > 0 }
        #expect(try isThere())
        try home.unlock(idle: 2)
        #expect(try isGone(Self.value, from: process))
        _ = try home.client.perform(home.paths, .items(trashed: false))
        let isSeen = try isThere()
        // This does not hold if the search took longer than that.
        if try home.client.status().vaults.first?.state == .unlocked { #expect(isSeen) }
        try await eventually { try home.client.status().vaults.first?.state == .firstUnlocked }
        #expect(try isGone(Self.value, from: process))

        try home.unlock()
        _ = try home.client.perform(home.paths, .items(trashed: false))
        #expect(try isThere())
        // Another process changes the vault. The next list replaces the old one.
        let (name, field) = (try ItemName(Self.item), try FieldName(Self.field))
        try home.open().edit { edit throws(VaultError) in try edit.put(bytes("new"), at: FieldPath(name, field)) }
        _ = try home.client.perform(home.paths, .items(trashed: false))
        #expect(try isGone(Self.value, from: process))
        func isNamed() throws -> Bool { try copies(of: Array(Self.item.utf8), in: process) > 0 }
        #expect(try isNamed())
        _ = try home.client.perform(home.paths, .purge([name], ifRevision: nil))
        #expect(try isGone(Self.item, from: process))
    }

    @Test("a key in ordinary memory is locked, in no core file and in no child process")
    func mappings() throws {
        let home = try AgentHome(options: ["--no-memfd-secret"])
        let needles = try work(home)
        var seen = 0
        for (what, needle) in needles where what.hasPrefix("class key") {
            for (mapping, count) in try places(of: needle, in: home.process()) where count > 0 {
                // A debugger that root starts, such as gcore, obeys these too.
                let flags = try flags(of: mapping, in: home.process())
                #expect(flags.isSuperset(of: ["lo", "dd", "wf"]), "\(what) in \(mapping): \(flags.sorted())")
                seen += count
            }
        }
        #expect(seen >= needles.count { $0.0.hasPrefix("class key") })
    }

    @Test("the agent cannot be dumped or gain privileges, and its own status reports this")
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

    @Test("after a session ends, the memory has neither its tokens nor the client's secret; before, it has both")
    func afterLogout() throws {
        let home = try AgentHome(options: ["--no-memfd-secret"]), login = try sessionLogin()
        let access = "an access token that occurs nowhere else, 4711", password = "a password for the logout, 4712"
        let handed = "an access token for clients that occurs nowhere else, 4713"
        try home.client.keep(try keptSession(login, token: tokens(access), access: handed, release: .allow))
        _ = try home.client.token(login, TokenQuestion(atLeast: 0)).isGiven
        _ = try home.client.useSession(login)
        _ = try home.client.renewSession(login, newTokens: true)
        let process = try home.process()
        for needle in [access, "refresh of " + access, "client secret", handed] {
            #expect(try copies(of: Array(needle.utf8), in: process) > 0, "before: \(needle)")
        }
        let ending = try home.client.endSession(login, password: Password(bytes(password)))
        #expect(ending.wasThere)
        for needle in [access, "refresh of " + access, "client secret", handed, password] {
            #expect(try copies(of: Array(needle.utf8), in: process) == 0, "after: \(needle)")
        }
    }

    /// Unlocks, reads, changes, and returns the bytes that must disappear later. A key counts as two halves, because a saved
    /// register keeps 16 bytes of it.
    private func work(_ home: AgentHome) throws -> [(String, [UInt8])] {
        try home.makeVault()
        try home.unlock()
        let (name, field) = (try ItemName(Self.item), try FieldName(Self.field))
        var values = FieldValues()
        try values.put(bytes(Self.value), at: field)
        guard case .reply(.changed) = try home.client.perform(home.paths, .add(name, level: nil, ItemChange(set: values))),
            case .reply(.secrets) = try home.client.perform(home.paths, .secrets(name, revision: nil)),
            case .reply(.items) = try home.client.perform(home.paths, .items(trashed: false))
        else { throw AgentError.misbehaved }
        var search = ItemSearch()
        _ = search.add(Self.wanted.utf8Span.span)
        guard case .reply(.found) = try home.client.perform(home.paths, .find(search, trashed: false)) else {
            throw AgentError.misbehaved
        }
        for _ in 0..<20 {
            guard case .reply(.secret) = try home.client.perform(home.paths, .secret(FieldPath(name, field), revision: nil))
            else { throw AgentError.misbehaved }
        }
        var needles = [
            ("the password", Array("pass word".utf8)), ("the item's value", Array(Self.value.utf8)),
            ("the item's name", Array(Self.item.utf8)), ("the item's field's name", Array(Self.field.utf8)),
            ("what was looked for", Array(Self.wanted.utf8)),
        ]
        for level in [ProtectionLevel.whenUnlocked, .highest] {
            let key = try classKey(home, level)
            let derived = try [Label.levelName, .levelDigest, .levelState, .levelRecords].map {
                ("key of \($0)", try self.derived(key, $0))
            }
            for (what, bytes) in [("class key", key)] + derived {
                needles += [("\(what), first half", Array(bytes.prefix(16))), ("\(what), second half", Array(bytes.suffix(16)))]
            }
        }
        return needles
    }

    private func classKey(_ home: AgentHome, _ level: ProtectionLevel) throws -> [UInt8] {
        var found: [UInt8] = []
        try home.open().classKeys().withKey(of: level) { key in
            key.withExposedBytes { bytes in found = bytes.indices.map { bytes[$0] } }
        }
        return found
    }

    private func derived(_ classKey: [UInt8], _ label: Label) throws -> [UInt8] {
        let key = try Key<Deriving>(readFrom: SecretBytes(copying: classKey))
        return key.derive(Context(label), as: Deriving.self).withExposedBytes { bytes in
            bytes.indices.map { bytes[$0] }
        }
    }

    /// Whether the text is nowhere in memory. The agent wipes the stack of a request after its answer. So an early search is
    /// repeated; each search takes far longer than the wipe.
    private func isGone(_ text: String, from process: Int32) throws -> Bool {
        for _ in 0..<20 where try copies(of: Array(text.utf8), in: process) == 0 { return true }
        return false
    }

    private func copies(of needle: [UInt8], in process: Int32) throws -> Int {
        try ProcessMemory(of: process).copies(of: needle)
    }

    private func places(of needle: [UInt8], in process: Int32) throws -> [(mapping: String, count: Int)] {
        try ProcessMemory(of: process).places(of: needle)
    }

    private func flags(of mapping: String, in process: Int32) throws -> Set<String> {
        let lines = try ProcessMemory.text("/proc/\(process)/smaps").split(separator: "\n")
        // The mapping is found by its start. Its end may have moved, or another mapping may have joined it.
        let address = try #require(mapping.split(separator: "-").first.flatMap { UInt64($0, radix: 16) })
        let start = try #require(
            lines.firstIndex { line in
                let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt64($0, radix: 16) }
                return bounds.count == 2 && bounds[0] <= address && address < bounds[1]
            }, "\(mapping)")
        let flags = try #require(lines[start...].first { $0.hasPrefix("VmFlags:") })
        return Set(flags.split(separator: " ").dropFirst().map(String.init))
    }
}
