// Locking while other requests use the same vaults.

import Foundation
import Glibc
import OMRecords
import OMSystem
import Synchronization
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMItems
@testable import OMVault

@Suite("Locking while other requests run", .onOwnThreads) struct LockingTests {
    @Test("a vault that is forgotten while its ticket resumes it has no keys afterwards")
    func forgottenWhileResumed() async throws {
        guard FileManager.default.isWritableFile(atPath: "/dev/shm") else { return }
        let home = try AgentHome(in: "/dev/shm")
        try home.makeVault(keepsTicket: true)
        let tickets = VaultTickets(home.socket.folder)
        let opened = try VaultTable(tickets).unlock(home.paths, home.open().classKeys(), openedBy: nil, idle: 600, hard: 600)
        #expect(opened != nil)
        #expect(VaultTable(tickets).handleOrResume(at: home.paths)?.status().state == .firstUnlocked, "the ticket resumes it")
        // Attack: read a ticket while its vault is forgotten. A lock does not see the handle yet.
        let handles = Mutex<VaultTable?>(nil)
        let resuming = VaultTable(tickets) {
            for id in tickets.vaults { tickets.remove(id) }
            handles.withLock { $0 }?.lock(nil, forgets: true)
        }
        handles.withLock { $0 = resuming }
        #expect(resuming.handleOrResume(at: home.paths) == nil && resuming.all.isEmpty)
        handles.withLock { $0 = nil }
    }

    @Test("lock --all interrupts every vault's request before it waits for any of them")
    func allAtOnce() async throws {
        let home = try AgentHome(), count = 6
        try home.makeVault()
        let handles = VaultTable(VaultTickets(home.socket.folder))
        // These are copies of one vault, so a change of any of them waits for the same lock.
        let places = try (0..<count).map { number in
            let copy = "\(home.root)/\(number).omv"
            try FileManager.default.copyItem(atPath: home.vault, toPath: copy)
            return try #require(VaultPaths(vault: copy, device: home.paths.device))
        }
        for paths in places {
            #expect(try handles.unlock(paths, home.open().classKeys(), openedBy: nil, idle: 600, hard: 600) != nil)
        }
        // If the vaults were asked one after the other, each only when the request before had given up, then of the requests that have
        // given up so far at most one more has been asked. It takes that at every request to call it so: the locking thread may
        // lose its processor between two of them.
        let givenUp = Atomic(0), wasOneByOne = Atomic(true)
        let all = handles.all
        var requests: Task<[Void], any Error>?
        try home.fileLock().hold { () throws(StorageError) in
            requests = Task { @Sendable in
                try await atOnce(count) { number in
                    if let request = try? ItemRequest.changeOfTest() { _ = all[number].perform(request) }
                    let place = givenUp.add(1, ordering: .sequentiallyConsistent).newValue
                    let asked = all.count { $0.interruption.isAsked }
                    if asked > place + 1 { wasOneByOne.store(false, ordering: .sequentiallyConsistent) }
                }
            }
            eventuallyHere { Self.waiting(at: home) == count + 1 }
            handles.lock(nil, forgets: false)
        }
        _ = try await requests?.value
        let oneByOne = wasOneByOne.load(ordering: .sequentiallyConsistent)
        #expect(!oneByOne, "each request gave up before the next one was asked")
        #expect(handles.all.allSatisfy { $0.status().state == .firstUnlocked })
        withExtendedLifetime(home) {}
    }

    /// How many descriptors of a lock file of the home are open here.
    private static func waiting(at home: AgentHome) -> Int {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            return target.map { $0.hasPrefix(home.root + "/device") && $0.hasSuffix(".lock") } ?? false
        }
    }
}

extension ItemRequest {
    static func changeOfTest() throws -> ItemRequest {
        var values = FieldValues()
        try values.put(bytes("new"), at: FieldName("f"))
        return .update(try ItemName(ProtectionLevel.whenUnlocked.itemName), ItemChange(set: values), ifRevision: nil)
    }
}
