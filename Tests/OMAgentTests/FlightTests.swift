// The agent's work without a request. Here the work is the test's own.

import Foundation
import OMCrypto
import OMOnlineModel
import OMRecords
import OMSecrets
import OMSystem
import Synchronization
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMItems
@testable import OMVault

@Suite("Exchanges of the agent", .onOwnThreads) struct FlightTests {
    /// Exchanges of which the test decides how they end.
    private final class TestSync: RemoteSync {
        /// The levels that each exchange could read, in the order of the exchanges.
        let seen = Mutex<[Set<String>]>([])
        let ended = Atomic(0)
        private let ending: @Sendable (Interruption) -> RemoteState

        init(_ ending: @escaping @Sendable (Interruption) -> RemoteState) { self.ending = ending }

        func remotes(of vault: borrowing Vault) throws(VaultError) -> [RemoteDetails] {
            [RemoteDetails(id: 1, vault: vault.id, incarnation: vault.id, path: "/stick", device: 7)]
        }

        func facts(of vault: borrowing Vault) throws(VaultError) -> SyncSummary {
            SyncSummary(questions: 3, copies: 2, names: 1, awaited: [], devices: [.init(device: 7, text: "laptop")])
        }

        func trace(
            of remote: RemoteDetails, waiting seconds: UInt8, unless interruption: Interruption
        ) throws(RemoteFailure) -> [UInt8] { [] }

        func exchange(
            with remote: RemoteDetails, of vault: borrowing Vault, _ running: RemoteTask
        ) -> RemoteEnding {
            let levels = (try? vault.items().map(\.name.text)) ?? []
            seen.withLock { $0.append(Set(levels)) }
            let state = ending(running.interruption)
            ended.add(1, ordering: .sequentiallyConsistent)
            return RemoteEnding(state, .report([1]), isSettled: true)
        }

        var count: Int { seen.withLock { $0.count } }
        var last: Set<String> { seen.withLock { $0.last ?? [] } }
        var hasEnded: Bool { ended.load(ordering: .sequentiallyConsistent) > 0 }

        /// With a folder that never answers.
        static func hanging() -> TestSync {
            TestSync { interruption in
                eventuallyHere { interruption.isAsked }
                return .offline
            }
        }
    }

    /// A vault that is unlocked in a table with this work.
    private static func table(_ home: AgentHome, _ work: TestSync, idle: Int64 = 600) throws -> (VaultTable, VaultHandle) {
        try home.makeVault()
        let table = VaultTable(VaultTickets(home.socket.folder), AgentSync(work))
        #expect(try table.unlock(home.paths, home.open().classKeys(), openedBy: nil, idle: idle, hard: 600) != nil)
        return (table, try #require(table[home.paths]))
    }

    /// What the handle says of the remote.
    private static func activity(_ handle: VaultHandle, _ asked: VaultHandle.AskedRemotes = .none) throws -> RemoteStatus {
        guard case .sync(let sync) = handle.sync(asked, needsFacts: false) else { throw Unexpected() }
        return try #require(sync.remotes.first)
    }

    @Test("a lock ends the exchange, and returns when the exchange has no keys any more; requests do not wait for it")
    func lock() throws {
        let home = try AgentHome(), work = TestSync.hanging()
        let (table, handle) = try Self.table(home, work)
        eventuallyHere { work.count > 0 }
        guard case .reply(.items) = handle.perform(.items(trashed: false)) else { throw Unexpected() }
        guard case .reply = handle.perform(try .changeOfTest()) else { throw Unexpected() }
        #expect(!work.hasEnded)
        table.lock(home.paths, forgets: true)
        #expect(work.hasEnded)
    }

    @Test("no exchange begins before a lock can find the vault")
    func unlisted() throws {
        let home = try AgentHome(), work = TestSync { _ in .idle }
        try home.makeVault()
        let handle = VaultHandle(
            home.paths, VaultTickets(home.socket.folder), MemoryBudget(bytes: 0), background: AgentSync(work))
        _ = try handle.unlock(home.open().classKeys(), openedBy: nil, idle: 600, hard: 600)
        #expect(handle.flight?.hasThread == false)
        handle.flight?.list()
        eventuallyHere { work.count > 0 }
    }

    @Test("the idle time runs on during an exchange, and its end ends the exchange")
    func idle() throws {
        let home = try AgentHome(), work = TestSync.hanging()
        let (_, handle) = try Self.table(home, work, idle: 1)
        eventuallyHere {
            _ = handle.expireDue()
            return work.hasEnded
        }
        #expect(handle.status().state == .firstUnlocked)
    }

    @Test("asking for an exchange, or for its state, is no use of the vault")
    func requests() throws {
        let home = try AgentHome()
        let (_, handle) = try Self.table(home, TestSync { _ in .idle }, idle: .max >> 1)
        handle.withState { $0.lastUse = 5 }
        for asked in [VaultHandle.AskedRemotes.none, .all, .one(1)] {
            guard case .sync = handle.sync(asked, needsFacts: true) else { throw Unexpected() }
        }
        eventuallyHere { try! !Self.activity(handle).isAsked }
        #expect(handle.withState { $0.lastUse } == 5)
        guard case .reply = handle.perform(.items(trashed: false)) else { throw Unexpected() }
        #expect(handle.withState { $0.lastUse } > 5, "a list is a use")
    }

    @Test("a signature, and a look whether there can be one, is no use of the vault")
    func signatures() throws {
        let home = try AgentHome()
        let (table, handle) = try Self.table(home, TestSync { _ in .idle }, idle: .max >> 1)
        try home.open().addIdentity("robot", key: PrivateKey.generate(.ed25519))
        let signer = OpenVaultSigner(table, home.paths)
        handle.withState { $0.lastUse = 5 }
        #expect(signer.problem(of: "robot") == nil)
        let length = try signer.sign(.assertion(clientID: "id", audience: "https://a.example"), with: "robot").count
        #expect(length > 0)
        #expect(throws: OnlineRefusal.failed(.noKeyAlgorithm)) {
            _ = try signer.sign(.assertion(clientID: "id", audience: "https://a.example", algorithms: 15), with: "robot")
        }
        #expect(handle.withState { $0.lastUse } == 5)
    }

    @Test("a locked vault is exchanged with the keys that the lock left; after 'forget' there is no exchange")
    func locked() throws {
        let home = try AgentHome(), work = TestSync { _ in .idle }
        let (table, handle) = try Self.table(home, work)
        eventuallyHere { work.count > 0 }
        #expect(work.last == Set(ProtectionLevel.allCases.map(\.itemName)))
        table.lock(home.paths, forgets: false)
        // The exchange may end before this thread goes on.
        let left = Set(ProtectionLevel.allCases.filter { $0.availability != .whenUnlocked }.map(\.itemName))
        eventuallyHere { work.last == left }
        table.lock(home.paths, forgets: true)
        guard case .locked(.locked) = handle.sync(.all, needsFacts: false) else { throw Unexpected() }
        eventuallyHere { handle.flight?.hasThread == false }
        // The next unlock begins again.
        let count = work.count
        #expect(try table.unlock(home.paths, home.open().classKeys(), openedBy: nil, idle: 600, hard: 600) != nil)
        eventuallyHere { work.count > count }
    }

    @Test("a stop ends when the user asks, and not with an unlock; the answer says when the exchange has ended")
    func stopped() throws {
        let isHeld = Mutex(false)
        let home = try AgentHome()
        let work = TestSync { _ in
            eventuallyHere { !isHeld.withLock { $0 } }
            return .stopped
        }
        let (table, handle) = try Self.table(home, work)
        eventuallyHere { try! Self.activity(handle).last != nil }
        #expect(try Self.activity(handle).state == .stopped)
        #expect(try table.unlock(home.paths, home.open().classKeys(), openedBy: nil, idle: 600, hard: 600) != nil)
        guard case .reply = handle.perform(try .changeOfTest()) else { throw Unexpected() }
        let count = work.count
        #expect(try Self.activity(handle, .one(2)).isAsked == false, "another remote")
        isHeld.withLock { $0 = true }
        #expect(try Self.activity(handle, .one(1)).isAsked)
        eventuallyHere { work.count == count + 1 }
        #expect(try Self.activity(handle).isAsked)
        isHeld.withLock { $0 = false }
        eventuallyHere { try! !Self.activity(handle).isAsked }
        #expect(work.count == count + 1)
        #expect(try Self.activity(handle).last?.outcome == .report([1]))
    }

    /// A server that answers a wait when there is news.
    private final class TestServer: RemoteSync {
        struct Counts {
            /// What the server has, and what the agent has seen of it.
            var (news, told): (UInt8, UInt8) = (0, 0)
            var (exchanges, waits, cuts) = (0, 0, 0)
        }
        let counts = Mutex(Counts())

        func remotes(of vault: borrowing Vault) throws(VaultError) -> [RemoteDetails] {
            [RemoteDetails(id: 1, vault: vault.id, incarnation: vault.id, path: "https://h", device: 7)]
        }

        func facts(of vault: borrowing Vault) throws(VaultError) -> SyncSummary {
            SyncSummary(questions: 0, copies: 0, names: 0, awaited: [], devices: [])
        }

        func trace(
            of remote: RemoteDetails, waiting seconds: UInt8, unless interruption: Interruption
        ) throws(RemoteFailure) -> [UInt8] {
            if seconds > 0 {
                counts.withLock { $0.waits += 1 }
                let end = ContinuousClock.now + .seconds(Int(seconds))
                eventuallyHere { interruption.isAsked || counts.withLock { $0.news != $0.told } || .now > end }
                if interruption.isAsked {
                    counts.withLock { $0.cuts += 1 }
                    throw .interrupted
                }
            }
            return counts.withLock { counts in
                counts.told = counts.news
                return [counts.news]
            }
        }

        func exchange(with remote: RemoteDetails, of vault: borrowing Vault, _ running: RemoteTask) -> RemoteEnding {
            counts.withLock { $0.exchanges += 1 }
            return RemoteEnding(.idle, .report([1]), isSettled: true)
        }
    }

    @Test("news of a server begins an exchange at once; an edit and a lock end the wait for news")
    func watch() throws {
        let home = try AgentHome(), server = TestServer()
        try home.makeVault()
        let table = VaultTable(VaultTickets(home.socket.folder), AgentSync(server))
        #expect(try table.unlock(home.paths, home.open().classKeys(), openedBy: nil, idle: 600, hard: 600) != nil)
        let handle = try #require(table[home.paths])
        eventuallyHere { server.counts.withLock { $0.waits > 0 } }
        let before = server.counts.withLock { counts in
            counts.news += 1
            return counts
        }
        eventuallyHere { server.counts.withLock { $0.exchanges > before.exchanges && $0.waits > before.waits } }
        let quiet = server.counts.withLock { $0 }
        guard case .reply = handle.perform(try .changeOfTest()) else { throw Unexpected() }
        // There is no news, so only an end of the wait lets the exchange begin.
        eventuallyHere { server.counts.withLock { $0.exchanges > quiet.exchanges } }
        eventuallyHere { server.counts.withLock { $0.waits > quiet.waits } }
        let last = server.counts.withLock { $0 }
        table.lock(home.paths, forgets: true)
        eventuallyHere { handle.flight?.hasThread == false }
        #expect(server.counts.withLock { $0.cuts } > last.cuts)
    }

    @Test("only an unlocked vault says what the user has to settle")
    func facts() throws {
        let home = try AgentHome()
        let (table, handle) = try Self.table(home, TestSync { _ in .idle })
        guard case .sync(let open) = handle.sync(.none, needsFacts: true) else { throw Unexpected() }
        #expect(open.facts?.questions == 3 && open.facts?.devices.first?.text == "laptop")
        table.lock(home.paths, forgets: false)
        guard case .sync(let locked) = handle.sync(.none, needsFacts: true) else { throw Unexpected() }
        #expect(locked.facts == nil && locked.remotes.count == 1)
    }

    private struct Unexpected: Error {}
}

@Suite("When remotes are due") struct RemoteScheduleTests {
    private func due(_ schedule: inout RemoteSchedule, of all: [UInt8], at now: Int64) -> [UInt8] {
        schedule.takeDue(of: all, at: now).map(\.id)
    }

    @Test("a remote that is not there is tried after 1 s, then after twice as long, up to 15 minutes; an edit changes nothing")
    func offline() {
        var schedule = RemoteSchedule(every: 3_600_000)
        var now: Int64 = 1_000_000
        #expect(due(&schedule, of: [1], at: now) == [1])
        for pause: Int64 in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 900_000, 900_000] {
            schedule.note(.offline, of: 1, at: now)
            let next = schedule.next(of: [1])
            #expect((now + pause / 2...now + pause).contains(next))
            now = next
            #expect(due(&schedule, of: [1], at: now - 1).isEmpty)
            #expect(due(&schedule, of: [1], at: now) == [1])
        }
        schedule.note(.offline, of: 1, at: now)
        schedule.noteEdit(at: now)
        schedule.noteKeys(at: now)
        #expect(due(&schedule, of: [1, 2], at: now + RemoteSchedule.afterEdit) == [2], "a new remote is due at once")
        schedule.ask(1)
        #expect(schedule.next(of: [1]) == 0)
        #expect(due(&schedule, of: [1], at: now) == [1], "the user does not wait")
        schedule.note(.idle, of: 1, at: now)
        schedule.note(.offline, of: 1, at: now)
        #expect(schedule.next(of: [1]) <= now + 1_000, "an exchange that succeeds ends the long waits")
    }

    @Test("edits go in one exchange, 3 s after the first one; a remote that is stopped is left alone until the user asks")
    func edits() {
        var schedule = RemoteSchedule(every: 60_000)
        #expect(schedule.next(of: [1, 2, 3]) == 0)
        #expect(due(&schedule, of: [1, 2, 3], at: 0) == [1, 2, 3])
        schedule.note(.idle, of: 1, at: 0)
        schedule.note(.held, of: 2, at: 0)
        schedule.note(.stopped, of: 3, at: 0)
        #expect(schedule.next(of: [1, 2, 3]) == 60_000)
        schedule.noteEdit(at: 10_000)
        schedule.noteEdit(at: 12_000)
        #expect(schedule.next(of: [1, 2, 3]) == 13_000)
        #expect(due(&schedule, of: [1, 2, 3], at: 13_000) == [1, 2])
        schedule.note(.waiting, of: 1, at: 14_000)
        schedule.note(.held, of: 2, at: 14_000)
        schedule.noteKeys(at: 20_000)
        #expect(due(&schedule, of: [1, 2, 3], at: 20_000) == [1, 2])
        schedule.note(.waiting, of: 1, at: 20_000)
        schedule.note(.held, of: 2, at: 20_000)
        #expect(schedule.next(of: [1, 2, 3]) == 80_000)
        schedule.ask(3)
        #expect(due(&schedule, of: [1, 2, 3], at: 30_000) == [3])
        #expect(schedule.isAsked(3))
        schedule.note(.stopped, of: 3, at: 31_000)
        #expect(!schedule.isAsked(3))
        #expect(due(&schedule, of: [1, 2, 3], at: 90_000) == [1, 2])
    }

    @Test("a look replaces an exchange for an hour, unless something is left to do; an exchange that was cut off is made again")
    func looks() {
        var schedule = RemoteSchedule(every: 60_000)
        _ = schedule.takeDue(of: [1], at: 0)
        schedule.note(.idle, of: 1, at: 0)
        schedule.noteTrace([9], of: 1)
        var now: Int64 = 60_000
        while now < RemoteSchedule.longestQuiet {
            #expect(schedule.takeDue(of: [1], at: now).map(\.task) == [.look(since: [9])])
            schedule.noteQuiet(1, at: now)
            now += 60_000
        }
        #expect(schedule.takeDue(of: [1], at: now).map(\.task) == [.exchange])
        schedule.note(.waiting, of: 1, at: now)
        #expect(schedule.takeDue(of: [1], at: now + 60_000).map(\.task) == [.exchange])
        schedule.note(.idle, of: 1, at: now)
        schedule.noteTrace([9], of: 1)
        schedule.ask(1)
        #expect(schedule.takeDue(of: [1], at: now).map(\.task) == [.exchange])
        schedule.noteInterrupted(1, at: now)
        #expect(schedule.isAsked(1))
        #expect(schedule.takeDue(of: [1], at: now).map(\.task) == [.exchange])
    }

    @Test("a server is watched until something else is due; ends that come early make the next watches later")
    func watches() throws {
        var schedule = RemoteSchedule(every: 60_000)
        func watch(at now: Int64, until next: Int64) -> RemoteSchedule.Watch? {
            schedule.watch(of: [1], at: now, until: next).watch
        }
        _ = schedule.takeDue(of: [1], at: 0)
        #expect(watch(at: 0, until: 60_000) == nil)
        schedule.note(.idle, of: 1, at: 0)
        #expect(watch(at: 0, until: 60_000) == nil, "something is left to do")
        schedule.noteTrace([9], of: 1)
        #expect(watch(at: 0, until: 5_500)?.seconds == 5)
        #expect(watch(at: 0, until: 4_999) == nil)
        let first = try #require(watch(at: 0, until: 60_000))
        #expect(first == RemoteSchedule.Watch(id: 1, trace: [9], seconds: 50, end: 50_000))
        schedule.note(.quiet, of: first, at: 50_000)
        #expect(schedule.next(of: [1]) == 110_000, "a watch replaces a look")
        var now: Int64 = 50_000
        for pause: Int64 in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] {
            let early = try #require(watch(at: now, until: now + 60_000))
            schedule.note(.failed, of: early, at: now)
            let (none, due) = schedule.watch(of: [1], at: now, until: now + 100_000)
            #expect(none == nil && due == now + pause)
            now = due
        }
        #expect(schedule.next(of: [1]) == 110_000, "the look finds out what is wrong")
        let whole = try #require(watch(at: now, until: now + 60_000))
        now = whole.end
        schedule.note(.quiet, of: whole, at: now)
        let again = try #require(watch(at: now, until: now + 60_000))
        schedule.note(.changed, of: again, at: now + 1)
        #expect(schedule.next(of: [1]) == now + 1)
        #expect(schedule.takeDue(of: [1], at: now + 1).map(\.task) == [.look(since: [9])])
        for state in [RemoteState.offline, .stopped] {
            schedule.note(state, of: 1, at: now)
            schedule.noteTrace([9], of: 1)
            #expect(watch(at: now, until: now + 60_000) == nil)
        }
        for interval: Int64? in [nil, 300_001] {
            schedule = RemoteSchedule(every: interval)
            _ = schedule.takeDue(of: [1], at: 0)
            schedule.note(.idle, of: 1, at: 0)
            schedule.noteTrace([9], of: 1)
            #expect(watch(at: 0, until: 60_000) == nil)
        }
    }

    @Test("without an interval nothing is due, until the user asks")
    func onRequest() {
        var schedule = RemoteSchedule(every: nil)
        schedule.noteEdit(at: 0)
        #expect(schedule.next(of: [1]) == RemoteSchedule.never)
        #expect(due(&schedule, of: [1], at: 1_000_000).isEmpty)
        schedule.ask(1)
        #expect(due(&schedule, of: [1], at: 0) == [1])
        schedule.note(.idle, of: 1, at: 0)
        #expect(schedule.next(of: [1]) == RemoteSchedule.never)
    }
}
