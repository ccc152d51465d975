import Foundation
import OMOnlineModel
import OMSecrets
import OMStorage
import Synchronization
import Testing

@testable import OMAuth

/// How often the ledger is opened, and which file a verdict is written into.
@Suite struct KeptLedgerTests {
    /// Counts the openings of another backend.
    private final class Counted: LoginPlace {
        private let place: any LoginPlace
        private let openings = Mutex(0)

        init(_ place: any LoginPlace) { self.place = place }

        /// How often the ledger was opened since the last call.
        func count() -> Int {
            openings.withLock { count in
                defer { count = 0 }
                return count
            }
        }

        func openLedger() throws(AuthError) -> (any LedgerTables)? {
            openings.withLock { $0 += 1 }
            return try place.openLedger()
        }

        func makeLedger() throws(AuthError) -> any LedgerTables {
            openings.withLock { $0 += 1 }
            return try place.makeLedger()
        }

        func loadDevice() throws(AuthError) -> DeviceKey? { try place.loadDevice() }
        func makeDevice() throws(AuthError) -> DeviceKey { try place.makeDevice() }
        func marks(_ id: LoginID, under device: borrowing DeviceKey) throws(AuthError) -> any LoginMarks {
            try place.marks(id, under: device)
        }
        func setUnreadableAside(at wall: Int64) throws(AuthError) -> SetAside? { try place.setUnreadableAside(at: wall) }
        func setAside() throws(AuthError) -> [String] { try place.setAside() }
    }

    @Test("one verdict opens the ledger once; a new credential's self-test opens it once more")
    func once() throws {
        let home = try Home(), profile = try serverProfile(3)
        let place = Counted(home.places), logins = Authenticator(place, .floor)
        let yes = TestProvider { _, _ in .yes(nil, nil) }
        _ = logins.end("right", profile, asking: yes)
        _ = place.count()
        #expect(logins.end("right", profile, asking: yes) == .online(notCached: nil))
        #expect(place.count() == 2)
        #expect(logins.end("right", profile, .offline, asking: nil) == .offline(nil))
        #expect(place.count() == 1)
        #expect(logins.end("right", profile, asking: TestProvider(.unreachable(.refused))) == .offline(.unreachable(.refused)))
        #expect(place.count() == 1)
        #expect(
            logins.end("wrong", profile, .offline, asking: nil)
                == .refused(.wrongPassword(attemptsLeft: 2, consequence: .wipe)))
        #expect(place.count() == 1)
        #expect(logins.end("wrong", profile, asking: TestProvider(.rejected)) == .refused(.online(.rejected)))
        #expect(place.count() == 1)
        // A command looks at the policy and the status after its verdict, too.
        let kept = logins.keepingLedger()
        #expect(
            kept.end("wrong", profile, .offline, asking: nil)
                == .refused(.wrongPassword(attemptsLeft: 1, consequence: .wipe)))
        _ = try kept.policy(of: ada, profile)
        _ = try kept.status(ada, profile)
        #expect(place.count() == 1)
    }

    @Test("a ledger that is put in the place of the open one while a server is asked is the one that is judged and charged")
    func replaced() throws {
        let home = try Home(), profile = try serverProfile(3)
        let yes = TestProvider { _, _ in .yes(nil, nil) }
        #expect(home.authenticator().end("right", profile, asking: yes) == .online(notCached: nil))
        let ledger = home.places.ledger
        try home.copy(ledger, home.path + "/before")
        // The mark remembers the failure, and the copy does not.
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
}
