// What the agent keeps in memory, and when it wipes it.

import COMSystem
import Foundation
import Glibc
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import Synchronization
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMItems
@testable import OMVault

@Suite("A vault in the agent", .onOwnThreads) struct VaultHandleTests {
    private static let portable = ProtectionLevel.allCases

    @Test("an unlocked vault reads and changes every level; a locked one still reads after-first-unlock items")
    func levels() throws {
        let home = try AgentHome()
        try home.makeVault()
        for level in Self.portable { #expect(try home.answer(level) == "locked 0") }
        try home.unlock()
        for level in Self.portable { #expect(try home.answer(level) == "secret of \(level.itemName)") }
        try home.client.lock(home.paths, forgets: false)
        for level in Self.portable {
            let isOpen = level.availability != .whenUnlocked
            #expect(try home.answer(level) == (isOpen ? "secret of \(level.itemName)" : "locked 1"))
        }
        try home.client.lock(home.paths, forgets: true)
        for level in Self.portable { #expect(try home.answer(level) == "locked 0") }
    }

    @Test("the vault's file alone locks a vault that was unlocked with another device folder")
    func lockedByFile() async throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        let other = try #require(VaultPaths(vault: home.vault, device: ""))
        try home.client.lock(other, forgets: true)
        #expect(try home.answer(.whenUnlocked) == "locked 0")
    }

    @Test("a locked vault answers only questions about available items")
    func lockedChanges() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        try home.client.lock(nil, forgets: false)
        let always = try ItemName(ProtectionLevel(.always).itemName)
        for request in 0..<4 {
            var values = FieldValues()
            try values.put(bytes("new"), at: FieldName("f"))
            let answer =
                switch request {
                case 0: try home.client.perform(home.paths, .items(trashed: false))
                case 3: try home.client.perform(home.paths, .names(trashed: false))
                case 1: try home.client.perform(home.paths, .add(ItemName("new"), level: nil, ItemChange(set: values)))
                default:
                    try home.client.perform(home.paths, .update(always, ItemChange(set: values), ifRevision: nil))
                }
            switch consume answer {
            case .locked(let state): #expect(state == .firstUnlocked && request != 2)
            case .reply: #expect(request == 2)
            case .failure(let error): Issue.record("\(error)")
            }
        }
        #expect(try home.answer(ProtectionLevel(.always)) == "new")
    }

    @Test("the agent finishes a purge that a reader delayed, whether its own or another process's")
    func purges() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        func pending() throws -> Int64 {
            try VaultSchema.open(home.vault).number("SELECT count(*) FROM pending")
        }
        let reader = try VaultSchema.open(home.vault)
        for isOfAgent in [true, false] {
            let level = isOfAgent ? ProtectionLevel.whenUnlocked : .highest
            try reader.execute("BEGIN")
            _ = try reader.number("SELECT count(*) FROM records")
            let request = ItemRequest.purge([try ItemName(level.itemName)], ifRevision: nil)
            var result: PurgeResult?
            if isOfAgent {
                if case .reply(let reply) = try home.client.perform(home.paths, request) { result = reply.takePurge() }
            } else {
                result = try home.open().perform(request).takePurge()
            }
            #expect(result == .pending)
            #expect(try pending() == 1)
            try reader.execute("COMMIT")
            // A request for the status is enough.
            _ = try home.client.status()
            #expect(try pending() == 0)
        }
    }

    @Test("an item is removed by its id through the agent, as without it")
    func purgeID() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        let item = try home.open().item(ItemName(ProtectionLevel.whenUnlocked.itemName))
        guard case .reply(.entries(let places)) = try home.client.perform(home.paths, .entries(id: item.id, level: .whenUnlocked))
        else { throw VaultError.noVault }
        #expect(places.map(\.item) == [item] && places.map(\.level) == [.whenUnlocked])
        let answer = try home.client.perform(home.paths, .purgeID(item.id, level: .whenUnlocked))
        guard case .reply(.removed(let gone, _)) = answer else { throw VaultError.noVault }
        #expect(gone == [item])
        guard case .reply(.entries(let left)) = try home.client.perform(home.paths, .entries(id: item.id, level: nil)) else {
            throw VaultError.noVault
        }
        #expect(left.isEmpty)
        #expect(try home.answer(.whenUnlocked) == "\(VaultError.noItem(item.name))")
    }

    @Test("items get new names and are copied through the agent, but not while the vault is locked")
    func newNames() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        let always = try ItemName(ProtectionLevel(.always).itemName)
        let (renamed, copied) = (try ItemName("renamed"), try ItemName("copied"))
        guard
            case .reply(.items(let items)) = try home.client.perform(
                home.paths, .rename([NewName(always, renamed)], ifRevision: 1))
        else { throw VaultError.noVault }
        #expect(items.map(\.name) == [renamed] && items.map(\.revision) == [2])
        guard
            case .reply(.items(let copies)) = try home.client.perform(
                home.paths, .copy([NewName(renamed, copied)], level: .highest, ifRevision: 2))
        else { throw VaultError.noVault }
        #expect(copies.map(\.name) == [copied] && copies.map(\.level) == [.highest])
        #expect(try home.open().history(copied).map(\.revision) == [2, 1])
        guard
            case .failure(let taken) = try home.client.perform(home.paths, .rename([NewName(renamed, copied)], ifRevision: nil))
        else { throw VaultError.noVault }
        #expect(taken == .itemExists(copied))
        // While it is locked, an item that nobody sees may have the new name.
        try home.client.lock(home.paths, forgets: false)
        for isCopy in [true, false] {
            let names = [NewName(renamed, always)]
            let request: ItemRequest =
                isCopy ? .copy(names, level: nil, ifRevision: nil) : .rename(names, ifRevision: nil)
            guard case .locked(.firstUnlocked) = try home.client.perform(home.paths, request) else {
                throw VaultError.noVault
            }
        }
        #expect(try home.open().item(renamed).revision == 2)
    }

    @Test("keys that do not open the vault are refused, and the existing keys stay")
    func forgedKeys() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        let file = try VaultFile.open(home.vault, device: try DeviceFolder(home.root + "/device"))
        var forged = ClassKeys(vault: file.id, epoch: file.epoch)
        forged.add(Key<Deriving>.random(), of: .whenUnlocked)
        #expect(try home.client.unlock(home.paths, forged, openedBy: nil, idle: 0, hard: 0) == .failure(.cannotUnlock))
        var other = ClassKeys(vault: Random.bytes(16), epoch: file.epoch)
        other.add(Key<Deriving>.random(), of: .whenUnlocked)
        #expect(try home.client.unlock(home.paths, other, openedBy: nil, idle: 0, hard: 0) == .failure(.cannotUnlock))
        var later = ClassKeys(vault: file.id, epoch: file.epoch + 1)
        later.add(Key<Deriving>.random(), of: .whenUnlocked)
        #expect(try home.client.unlock(home.paths, later, openedBy: nil, idle: 0, hard: 0) == .failure(.rekeyed))
        #expect(try home.answer(.whenUnlocked) == "secret of when-unlocked")
    }

    @Test("an unused vault locks itself, and every vault locks at the end of its time", arguments: [true, false])
    func timeOuts(isIdle: Bool) async throws {
        let home = try AgentHome()
        try home.makeVault()
        let longest = AgentServer.TimeOuts.longest
        try home.unlock(idle: isIdle ? 1 : longest, hard: isIdle ? longest : 1)
        // A request for the status does not count as use of the vault.
        try await eventually { try home.client.status().vaults.first?.state == .firstUnlocked }
        #expect(try home.answer(.whenUnlocked) == "locked 1")
        #expect(try home.answer(ProtectionLevel(.afterFirstUnlock)) == "secret of after-first-unlock")
    }

    @Test("the agent notices a vault that replaced the open one")
    func replacedFile() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        try FileManager.default.moveItem(atPath: home.vault, toPath: home.root + "/old")
        #expect(try home.answer(.whenUnlocked) == "noVault")
        try FileManager.default.moveItem(atPath: home.root + "/old", toPath: home.vault)
        #expect(try home.answer(.whenUnlocked) == "secret of when-unlocked")
    }

    @Test("lock and status do not wait for requests, and a request that waits for a lock is answered as locked")
    func lockWhileWaiting() async throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        let answers = Answers()
        // A request that gives up after a minute is answered as busy. So is a request for which a lock waited.
        try await whileLockIsHeld(home, answers) {
            try await home.waitUntilRequestWaits()
            #expect(try home.client.status().vaults.first?.state == .unlocked)
            #expect(answers.all.isEmpty)
            try home.client.lock(home.paths, forgets: false)
            #expect(try home.client.status().vaults.first?.state == .firstUnlocked)
            #expect(try home.answer(.whenUnlocked) == "locked 1")
            // The answer comes while the lock is still held.
            try await eventually { !answers.all.isEmpty }
        }
        #expect(answers.all == ["locked 1": 1])
        #expect(try home.open().item(ItemName(ProtectionLevel.whenUnlocked.itemName)).revision == 1)
        // The next change succeeds as usual.
        try home.unlock()
        #expect(try home.change() == "changed")
    }

    @Test("a vault whose time ends while a request waits is locked at that moment")
    func timeOutWhileWaiting() async throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock(hard: 1)
        let answers = Answers()
        try await whileLockIsHeld(home, answers) {
            try await eventually { try home.client.status().vaults.first?.state == .firstUnlocked }
        }
        #expect(answers.all == ["locked 1": 1])
    }

    /// Requests a change while this process holds the vault's lock. Returns after the lock is free and the change was answered.
    private func whileLockIsHeld(_ home: AgentHome, _ answers: Answers, _ body: () async throws -> Void) async throws {
        let held = Atomic(false), isDone = Atomic(false)
        async let holding: Void = onOwnThread {
            defer { held.store(true, ordering: .sequentiallyConsistent) }
            try home.fileLock().hold { () throws(StorageError) in
                held.store(true, ordering: .sequentiallyConsistent)
                eventuallyHere { isDone.load(ordering: .sequentiallyConsistent) }
            }
        }
        try await eventually { held.load(ordering: .sequentiallyConsistent) }
        async let asking: Void = onOwnThread { answers.add((try? home.change()) ?? "none") }
        do { try await body() } catch { Issue.record("\(error)") }
        isDone.store(true, ordering: .sequentiallyConsistent)
        try await holding
        await asking
    }

    @Test("a search finds names only, while the vault is unlocked, and is refused while it is locked")
    func find() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        func answer(_ request: consuming ItemRequest) throws -> String {
            switch try home.client.perform(home.paths, request) {
            case .reply(.found(let items, _)): return items.map(\.name.text).joined(separator: ",")
            case .reply(.names(let names, _)): return names.names.map(\.text).joined(separator: ",")
            case .reply: return "another reply"
            case .failure(let error): return "\(error)"
            case .locked(let state): return "locked \(state.rawValue)"
            }
        }
        func search(_ word: String, _ scope: ItemSearch.Scope?) -> ItemSearch {
            var search = ItemSearch(in: scope)
            _ = search.add(word.utf8Span.span)
            return search
        }
        func found(_ word: String, in scope: ItemSearch.Scope? = nil) throws -> String {
            let items = try answer(.find(search(word, scope), trashed: false))
            #expect(try answer(.findNames(search(word, scope), trashed: false)) == items)
            return items
        }
        #expect(try answer(.names(trashed: false)) == home.open().items().map(\.name.text).joined(separator: ","))
        #expect(try answer(.names(trashed: true)) == "")
        #expect(try found("SECRET of always") == "always,always here")
        #expect(
            try found("here", in: .init(itemName: true, fields: [])) == "after-first-unlock here,always here,when-unlocked here")
        #expect(try found("always", in: .init(itemName: false, fields: [FieldName("f")])) == "always,always here")
        #expect(try found("always", in: .init(itemName: false, fields: [FieldName("g")])) == "")
        try home.client.lock(home.paths, forgets: false)
        #expect(try found("always") == "locked 1")
    }

    @Test("100 clients at once all get answers")
    func manyClients() async throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        let answers = Answers()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask { try await onOwnThread { answers.add(try home.answer(.whenUnlocked)) } }
            }
            try await group.waitForAll()
        }
        #expect(answers.all == ["secret of when-unlocked": 100])
    }

    private final class Answers: Sendable {
        private let counts = Mutex<[String: Int]>([:])
        var all: [String: Int] { counts.withLock { $0 } }
        func add(_ answer: String) { counts.withLock { $0[answer, default: 0] += 1 } }
    }
}

extension AgentHome: @unchecked Sendable {
    /// Lets the agent change the item of when-unlocked.
    fileprivate func change() throws -> String {
        var values = FieldValues()
        try values.put(bytes("new"), at: FieldName("f"))
        let name = try ItemName(ProtectionLevel.whenUnlocked.itemName)
        switch try client.perform(paths, .update(name, ItemChange(set: values), ifRevision: nil)) {
        case .reply: return "changed"
        case .failure(let error): return "\(error)"
        case .locked(let state): return "locked \(state.rawValue)"
        }
    }

    /// Waits until the agent has the lock's file open.
    fileprivate func waitUntilRequestWaits() async throws {
        let folder = "/proc/\(try process())/fd"
        try await eventually {
            try FileManager.default.contentsOfDirectory(atPath: folder).contains { entry in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(entry)")
                return target.map { $0.hasPrefix(root + "/device") && $0.hasSuffix(".lock") } ?? false
            }
        }
    }
}

extension ItemReply {
    /// The result of a purge.
    fileprivate consuming func takePurge() -> PurgeResult? {
        switch consume self {
        case .changed(_, let purge): purge
        case .removed(_, let purge): purge
        default: nil
        }
    }
}
