// Sessions across a restart of the agent: only if allowed, only within the boot, and only unchanged.

import Foundation
import Glibc
import OMAuth
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("Session tickets", .onOwnThreads) struct SessionTicketTests {
    private let clock = SessionClock()
    private let server = SessionServer()
    /// All tests share the user's keyring, so simultaneous tests use different names.
    private let mark = UUID().uuidString

    /// A runtime folder in memory, deleted with the test.
    private final class Runtime {
        private let home: TestFolder
        let folder: RuntimeFolder
        var path: String { home.path }

        init() throws {
            home = try TestFolder(in: "/dev/shm")
            folder = try RuntimeFolder.make(home.path)
        }

        /// Their secrets are in the user's keyring.
        deinit { for id in SessionTickets(folder).ids { SessionTickets(folder).remove(id) } }

        var tickets: SessionTickets { SessionTickets(folder) }
        var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }
    }

    @Test("a surviving session keeps its time, server and tokens, and any other session leaves nothing")
    func survives() throws {
        let runtime = try Runtime(), login = try sessionLogin("ada \(mark)"), other = try sessionLogin("bob \(mark)")
        let before = server.store(clock, runtime.tickets)
        #expect(
            try before.keeps(
                login, idle: 100, session: 1_000, survives: true, expires: 5_050, access: "at 1", release: .confirm))
        #expect(try before.keeps(other))
        clock.advance(60)
        _ = before.use(login)
        server.say(.yes("token 2", access: "at 2", scopes: ["a"], lifetime: 20))
        _ = before.renew(login, newTokens: true)
        clock.advance(30)
        let after = server.store(clock, runtime.tickets)
        after.resume()
        #expect(after.list() == before.list().filter { $0.login == login })
        #expect(after.list().first?.state == .expired && after.list().first?.release == .confirm)
        #expect(after.list().first?.token == HeldToken(scopes: try #require(ScopeSet(["a"])), left: 0, kind: .bearer))
        #expect(after.list().first?.idleLeft == 70 && after.list().first?.sessionLeft == 910)
        _ = after.renew(login, newTokens: true)
        #expect(server.asked.last == AskedOf(task: .refresh, session: "token 2"))
        #expect(after.ends(login).wasThere)
        #expect(runtime.names.isEmpty)
        let third = server.store(clock, runtime.tickets)
        third.resume()
        #expect(third.list().isEmpty)
    }

    @Test("a session that timed out while no agent ran is cleared and ended by the next agent")
    func ranOut() async throws {
        let runtime = try Runtime(), login = try sessionLogin("ada \(mark)")
        #expect(try server.store(clock, runtime.tickets).keeps(login, session: 50, survives: true))
        clock.advance(50)
        let after = server.store(clock, runtime.tickets)
        after.resume()
        #expect(after.use(login) == nil)
        #expect(after.expireDue() == nil)
        try await eventually { server.asked.count >= 1 }
        #expect(server.cleared == [.sessionTimeOut] && server.asked.map(\.task) == [.logout(user: nil)])
        #expect(runtime.names.isEmpty)
    }

    @Test("a ticket that was changed, or is of another login or boot, is removed and opens nothing")
    func forged() throws {
        let runtime = try Runtime(), login = try sessionLogin("ada \(mark)")
        let store = server.store(clock, runtime.tickets)
        func write() throws -> (path: String, bytes: [UInt8]) {
            #expect(try store.keeps(login, survives: true))
            let name = try #require(runtime.names.first { !$0.hasPrefix("omvault-session-secret-") })
            let path = runtime.path + "/" + name
            return (path, Array(try #require(FileManager.default.contents(atPath: path))))
        }
        func isTaken() -> Bool {
            let next = server.store(clock, runtime.tickets)
            next.resume()
            return !next.list().isEmpty
        }
        let (path, sound) = try write()
        #expect(isTaken())
        for place in [0, 4, 5, 20, 21, 40, sound.count / 2, sound.count - 1] {
            let (path, bytes) = try write()
            var changed = bytes
            changed[place] ^= 1
            try Data(changed).write(to: URL(filePath: path))
            chmod(path, 0o600)
            #expect(!isTaken(), "byte \(place)")
            #expect(runtime.names.isEmpty, "byte \(place)")
        }
        // Attack: an old ticket is put back under the secret of a new one.
        _ = try write()
        try Data(sound).write(to: URL(filePath: path))
        chmod(path, 0o600)
        #expect(!isTaken())
        // Attack: a ticket under another login's name.
        let (own, bytes) = try write()
        let foreign = runtime.path + "/omvault-session-" + Hex.encode(try sessionLogin("bob \(mark)").id)
        try Data(bytes).write(to: URL(filePath: foreign))
        chmod(foreign, 0o600)
        unlink(own)
        #expect(!isTaken())
    }

    @Test("an agent that is killed at any step of writing a ticket leaves the ticket before it or the new one")
    func killedMeanwhile() throws {
        let runtime = try Runtime(), login = try sessionLogin("ada \(mark)"), store = server.store(clock, runtime.tickets)
        #expect(try store.keeps(login, survives: true))
        func token() -> String? {
            let next = server.store(clock, runtime.tickets)
            next.resume()
            return next.entries.withLock { entries in
                guard let entry = entries[login] else { return nil }
                switch entry.question(newTokens: true) {
                case .some(let question): return question.session.text
                case .none: return nil
                }
            }
        }
        // The tickets alternate between two places.
        for number in 2...5 {
            let secrets = BootSecrets(
                runtime.folder, prefix: "omvault-session-", secretPrefix: "omvault-session-secret-", longest: 1 << 20)
            let place = try #require(store.entries.withLock { $0[login]?.secretPlace })
            // The first step is a new secret. A killed agent made only this step.
            let isKept = secrets.keep(Key<Deriving>.random(), for: login.id, at: place.other)
            #expect(isKept)
            #expect(token() == "token \(number - 1)")
            // The next step is a draft of the ticket.
            let draft = runtime.path + "/.omvault-session-" + Hex.encode(login.id)
            try Data("half a ticket".utf8).write(to: URL(filePath: draft))
            #expect(token() == "token \(number - 1)")
            // After the new ticket has its name, the old secret may still be there.
            server.say(.yes("token \(number)"))
            _ = store.renew(login, newTokens: true)
            let isStillThere = secrets.keep(Key<Deriving>.random(), for: login.id, at: place)
            #expect(isStillThere)
            #expect(token() == "token \(number)")
            #expect(runtime.names.allSatisfy { !$0.hasPrefix(".") })
        }
        #expect(store.ends(login).wasThere)
        #expect(runtime.names.isEmpty)
    }

    private static var hasDisk: Bool {
        get throws { try !RuntimeFolder.make(TestFolder(in: TestFolder.disk).path).isInMemory }
    }

    @Test("no ticket is written to a disk", .enabled("/var/tmp is in memory") { try SessionTicketTests.hasDisk })
    func disk() throws {
        let root = try TestFolder(in: TestFolder.disk)
        let folder = try RuntimeFolder.make(root.path)
        let store = server.store(clock, SessionTickets(folder))
        #expect(try try store.keeps(sessionLogin(), survives: true))
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path).isEmpty)
    }
}
