// When the store of sessions reads its clock.

import Foundation
import Glibc
import OMAuth
import OMOnlineModel
import OMSecrets
import OMSystem
import Synchronization
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("The clock of the agent's sessions") struct SessionClockTests {
    /// Counts how often the clock was read while another thread could have used the store.
    private final class Watcher: Sendable {
        private let store = Mutex<SessionStore?>(nil)
        let free = Atomic(0)
        let reads = Atomic(0)

        func watch(_ store: SessionStore?) { self.store.withLock { $0 = store } }

        func read() -> ClockReading {
            guard let store = store.withLock({ $0 }) else { return reading }
            reads.add(1, ordering: .relaxed)
            if store.entries.withLockIfFree({ _ in true }) != nil { free.add(1, ordering: .relaxed) }
            return reading
        }

        private let reading = ClockReading(wall: 1_000_000, sinceBoot: 5_000, bootID: ClockReading.now().bootID)
    }

    @Test("a session is not ended by two clients at the turn of a second: every use reads the clock when no other client can")
    func underTheLock() throws {
        let watcher = Watcher()
        let store = SessionStore(
            nil, ask: { (_: consuming OnlineQuestion) in .refused(.failed(.helper)) }, clear: { _, _ in },
            ledger: SessionLedger(write: { (_, _) in .failed }, look: { (_, _) in .same }, forget: { (_, _) in }),
            clock: { watcher.read() })
        let login = try sessionLogin()
        #expect(try store.keeps(login))
        watcher.watch(store)
        _ = store.use(login)
        _ = store.list()
        _ = store.expireDue()
        _ = store.renew(login, newTokens: true)
        _ = store.token(of: login, TokenQuestion(atLeast: 60))
        _ = store.token(
            of: login, TokenQuestion(atLeast: 60, narrowing: TokenNarrowing(scopes: ScopeSet(), resource: "https://a.example")))
        _ = store.claims(of: login, .userInfo)
        let reading = ProfileReading(profile: [], bounds: nil)
        if let question = KnownTokenQuestion(state: "/a", device: "/b", profile: "work", reading: reading) {
            _ = store.knownToken(question)
        }
        #expect(try store.keeps(sessionLogin("bob")))
        var remembered = try keptSession(sessionLogin("carol"))
        remembered.row = SessionRowKey(bytes(String(repeating: "k", count: 32)), generation: 1)
        #expect(store.restore(remembered, since: 42) == .failed)
        watcher.watch(nil)
        #expect(watcher.reads.load(ordering: .relaxed) >= 11)
        #expect(watcher.free.load(ordering: .relaxed) == 0)
    }
}
