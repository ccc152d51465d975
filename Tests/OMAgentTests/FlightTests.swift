// The agent's work without a request. Here the work is the test's own: it goes on until it is interrupted.

import Foundation
import OMSystem
import Synchronization
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMItems
@testable import OMVault

@Suite("Exchanges of the agent", .onOwnThreads) struct FlightTests {
    /// An exchange with a folder that never answers.
    private final class Hanging: RemoteSync {
        let begun = Atomic(0), ended = Atomic(0)

        func remotes(of vault: borrowing Vault) throws(VaultError) -> [UInt8] { [1] }

        func exchange(with remote: UInt8, of vault: borrowing Vault, unless interruption: Interruption) -> RemoteState {
            begun.add(1, ordering: .sequentiallyConsistent)
            eventuallyHere { interruption.isAsked }
            ended.add(1, ordering: .sequentiallyConsistent)
            return .offline
        }

        var hasBegun: Bool { begun.load(ordering: .sequentiallyConsistent) > 0 }
        var hasEnded: Bool { ended.load(ordering: .sequentiallyConsistent) > 0 }
    }

    @Test("a lock ends the exchange, and returns when the exchange has no keys any more; requests do not wait for it")
    func lock() throws {
        let home = try AgentHome(), work = Hanging()
        try home.makeVault()
        let table = VaultTable(VaultTickets(home.socket.folder), AgentSync(work))
        #expect(try table.unlock(home.paths, home.open().classKeys(), openedBy: nil, idle: 600, hard: 600) != nil)
        eventuallyHere { work.hasBegun }
        let handle = try #require(table[home.paths])
        guard case .reply(.items) = handle.perform(.items(trashed: false)) else { throw Unexpected() }
        guard case .reply = handle.perform(try .changeOfTest()) else { throw Unexpected() }
        #expect(!work.hasEnded)
        table.lock(home.paths, forgets: false)
        #expect(work.hasEnded)
    }

    @Test("the idle time runs on during an exchange, and its end ends the exchange")
    func idle() throws {
        let home = try AgentHome(), work = Hanging()
        try home.makeVault()
        let table = VaultTable(VaultTickets(home.socket.folder), AgentSync(work))
        #expect(try table.unlock(home.paths, home.open().classKeys(), openedBy: nil, idle: 1, hard: 600) != nil)
        let handle = try #require(table[home.paths])
        eventuallyHere {
            _ = handle.expireDue()
            return work.hasEnded
        }
        #expect(handle.status().state == .firstUnlocked)
    }

    private struct Unexpected: Error {}

    @Test("a remote that is not there is tried after 1 s, then after twice as long, up to 15 minutes; an edit changes nothing")
    func offline() {
        var schedule = RemoteSchedule(every: 3_600_000)
        var now: Int64 = 1_000_000
        #expect(schedule.takeDue(of: [1], at: now) == [1])
        for pause: Int64 in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 900_000, 900_000] {
            schedule.note(.offline, of: 1, at: now)
            #expect((now + pause / 2...now + pause).contains(schedule.next))
            now = schedule.next
            #expect(schedule.takeDue(of: [1], at: now - 1).isEmpty)
            #expect(schedule.takeDue(of: [1], at: now) == [1])
        }
        schedule.note(.offline, of: 1, at: now)
        schedule.noteEdit(at: now)
        #expect(schedule.takeDue(of: [1, 2], at: now + RemoteSchedule.afterEdit) == [2], "a new remote is due at once")
        schedule.note(.idle, of: 1, at: now)
        schedule.note(.offline, of: 1, at: now)
        #expect(schedule.next <= now + 1_000, "an exchange that succeeds ends the long waits")
    }

    @Test("edits go in one exchange, 3 s after the first one; a remote that is held or stopped is left alone")
    func edits() {
        var schedule = RemoteSchedule(every: 60_000)
        #expect(schedule.next == 0)
        #expect(schedule.takeDue(of: [1, 2, 3], at: 0) == [1, 2, 3])
        schedule.note(.idle, of: 1, at: 0)
        schedule.note(.held, of: 2, at: 0)
        schedule.note(.stopped, of: 3, at: 0)
        #expect(schedule.next == 60_000)
        schedule.noteEdit(at: 10_000)
        schedule.noteEdit(at: 12_000)
        #expect(schedule.next == 13_000)
        #expect(schedule.takeDue(of: [1, 2, 3], at: 13_000) == [1])
        schedule.note(.waiting, of: 1, at: 14_000)
        #expect(schedule.next == 73_000)
        #expect(schedule.takeDue(of: [1, 2, 3], at: 80_000) == [1])
    }
}
