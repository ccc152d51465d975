import Foundation
import Glibc
import OMOnlineModel
import OMSecrets
import OMStorage
import Synchronization
import Testing

@testable import OMAuth

/// How often the ledger is opened, and which file gets the result of a check.
@Suite struct KeptLedgerTests {
    /// Counts the openings of another backend.
    private final class Counted: LoginBackend {
        private let backend: any LoginBackend
        private let openings = Mutex(0)

        init(_ backend: any LoginBackend) { self.backend = backend }

        /// How often the ledger was opened since the last call.
        func count() -> Int {
            openings.withLock { count in
                defer { count = 0 }
                return count
            }
        }

        func openLedger() throws(AuthError) -> (any LedgerTables)? {
            openings.withLock { $0 += 1 }
            return try backend.openLedger()
        }

        func makeLedger() throws(AuthError) -> any LedgerTables {
            openings.withLock { $0 += 1 }
            return try backend.makeLedger()
        }

        func loadDevice() throws(AuthError) -> DeviceKey? { try backend.loadDevice() }
        func makeDevice() throws(AuthError) -> DeviceKey { try backend.makeDevice() }
        func marks(_ id: LoginID, under device: borrowing DeviceKey) throws(AuthError) -> any LoginMarks {
            try backend.marks(id, under: device)
        }
        func renameUnreadableLedger(at wall: Int64) throws(AuthError) -> DamagedFile? {
            try backend.renameUnreadableLedger(at: wall)
        }
        func damagedLedgers() throws(AuthError) -> [String] { try backend.damagedLedgers() }
    }

    @Test("one check opens the ledger once, and a new credential's self-test opens it once more")
    func once() throws {
        let home = try Home(), profile = try serverProfile(3)
        let backend = Counted(home.backend), logins = Authenticator(backend, .floor)
        let yes = TestProvider { _, _ in .yes(nil, nil) }
        _ = logins.end("right", profile, asking: yes)
        _ = backend.count()
        #expect(logins.end("right", profile, asking: yes) == .online(notCached: nil))
        #expect(backend.count() == 2)
        #expect(logins.end("right", profile, .offline, asking: nil) == .offline(nil))
        #expect(backend.count() == 1)
        #expect(logins.end("right", profile, asking: TestProvider(.unreachable(.refused))) == .offline(.unreachable(.refused)))
        #expect(backend.count() == 1)
        #expect(
            logins.end("wrong", profile, .offline, asking: nil)
                == .refused(.wrongPassword(attemptsLeft: 2, consequence: .wipe)))
        #expect(backend.count() == 1)
        #expect(logins.end("wrong", profile, asking: TestProvider(.rejected)) == .refused(.online(.rejected)))
        #expect(backend.count() == 1)
        // A command also reads the policy and the status after the check.
        let kept = logins.keepingLedger()
        #expect(
            kept.end("wrong", profile, .offline, asking: nil)
                == .refused(.wrongPassword(attemptsLeft: 1, consequence: .wipe)))
        _ = try kept.policy(of: ada, profile)
        _ = try kept.status(ada, profile)
        #expect(backend.count() == 1)
    }

    @Test("if the ledger is replaced while a server is asked, the new ledger is checked and charged")
    func replaced() throws {
        let home = try Home(), profile = try serverProfile(3)
        let yes = TestProvider { _, _ in .yes(nil, nil) }
        #expect(home.authenticator().end("right", profile, asking: yes) == .online(notCached: nil))
        let ledger = home.backend.ledger
        try home.copy(ledger, home.path + "/before")
        // The mark records the failure, and the copy does not.
        #expect(home.check("wrong", profile) == .wrongPassword(attemptsLeft: 2, consequence: .wipe))
        let restores = TestProvider { _, _ in
            for name in [ledger, ledger + "-wal", ledger + "-shm"] { try? FileManager.default.removeItem(atPath: name) }
            try? home.copy(home.path + "/before", ledger)
            return .no(.unreachable(.refused))
        }
        #expect(
            home.authenticator().end("right", profile, asking: restores)
                == .refused(.neither(online: .unreachable(.refused), offline: .rolledBack)))
    }

    @Test("an attempt on a ledger that is renamed during the wait for its lock is busy and charges nothing")
    func renamedMeanwhile() throws {
        let home = try Home(), profile = try serverProfile(3)
        let yes = TestProvider { _, _ in .yes(nil, nil) }
        #expect(home.authenticator().end("right", profile, asking: yes) == .online(notCached: nil))
        let ledger = home.backend.ledger, renamed = Mutex(false)
        let authenticator = home.authenticator { point in
            guard case .found = point,
                renamed.withLock({ done in
                    defer { done = true }; return !done
                })
            else { return }
            for end in ["", "-wal", "-shm"] { rename(ledger + end, ledger + ".damaged" + end) }
        }
        #expect(authenticator.end("wrong", profile, .offline, asking: nil) == .refused(.busy))
        #expect(!FileManager.default.fileExists(atPath: ledger))
        for end in ["", "-wal", "-shm"] { rename(ledger + ".damaged" + end, ledger + end) }
        #expect(home.check("wrong", profile) == .wrongPassword(attemptsLeft: 2, consequence: .wipe))
    }
}
