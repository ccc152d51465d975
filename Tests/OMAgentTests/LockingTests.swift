// Locking, while others are at work on the very vaults.

import Foundation
import Glibc
import OMRecords
import OMStorage
import Synchronization
import Testing

@testable import OMAgent
@testable import OMVault

@Suite("Locking while others are at work") struct LockingTests {
    @Test("a vault that is being resumed from its ticket while somebody forgets it has no keys afterwards")
    func forgottenWhileResumed() throws {
        guard FileManager.default.isWritableFile(atPath: "/dev/shm") else { return }
        let home = try AgentHome(in: "/dev/shm")
        try home.makeVault(keepsTicket: true)
        let tickets = Tickets(home.socket.folder)
        for round in 0..<200 {
            #expect(try VaultSeats(tickets).unlock(home.place, home.open().classKeys(), openedBy: nil, idle: 600, hard: 600))
            try #require(!tickets.vaults.isEmpty)
            let seats = VaultSeats(tickets), resuming = DispatchGroup(), begun = DispatchSemaphore(value: 0)
            DispatchQueue.global().async(group: resuming) {
                begun.signal()
                _ = seats.seat(at: home.place)
            }
            begun.wait()
            // Into the middle of it, wherever that is on this machine.
            usleep(UInt32(round % 50) * 40)
            for id in tickets.vaults { tickets.remove(id) }
            seats.lock(nil, forgets: true)
            for id in tickets.vaults { tickets.remove(id) }
            resuming.wait()
            try #require(seats[home.place]?.status().state ?? .locked == .locked, "round \(round)")
        }
    }

    @Test("lock --all asks every vault's request to give up before it waits for one of them")
    func allAtOnce() throws {
        let home = try AgentHome(), count = 6
        try home.makeVault()
        let seats = VaultSeats(Tickets(home.socket.folder))
        // Copies of one vault: whoever changes one of them waits for the same lock.
        let places = try (0..<count).map { number in
            let copy = "\(home.root)/\(number).omv"
            try FileManager.default.copyItem(atPath: home.vault, toPath: copy)
            return try #require(AgentPlace(vault: copy, device: home.place.device))
        }
        for place in places { #expect(try seats.unlock(place, home.open().classKeys(), openedBy: nil, idle: 600, hard: 600)) }
        let givenUp = Atomic(0), wasEarly = Atomic(false)
        let requests = DispatchGroup()
        @Sendable func areAllAsked() -> Bool { seats.all.allSatisfy(\.interruption.isAsked) }
        try home.fileLock().hold { () throws(StorageError) in
            for seat in seats.all {
                requests.enter()
                Thread.detachNewThread {
                    if let request = try? ItemRequest.changeOfTest() { _ = seat.perform(request) }
                    let isFirst = givenUp.add(1, ordering: .sequentiallyConsistent).newValue == 1
                    // A moment for the thread that locks; no more than until another request has given up as well.
                    while isFirst, !areAllAsked(), givenUp.load(ordering: .sequentiallyConsistent) == 1 { usleep(1_000) }
                    if isFirst, !areAllAsked() { wasEarly.store(true, ordering: .sequentiallyConsistent) }
                    requests.leave()
                }
            }
            while Self.waiting(at: home) < count + 1 { usleep(1_000) }
            seats.lock(nil, forgets: false)
        }
        requests.wait()
        let gaveUpEarly = wasEarly.load(ordering: .sequentiallyConsistent)
        #expect(!gaveUpEarly, "one gave up while others were not asked")
        #expect(seats.all.allSatisfy { $0.status().state == .firstUnlocked })
        withExtendedLifetime(home) {}
    }

    /// How often a lock's file of the home is open here.
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
    fileprivate static func changeOfTest() throws -> ItemRequest {
        var values = FieldValues()
        try values.put(bytes("new"), at: FieldName("f"))
        return .update(try ItemName(ProtectionLevel.whenUnlocked.itemName), set: values, remove: [], ifRevision: nil)
    }
}
