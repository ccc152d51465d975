#if Server
// Tests of accounts: their names, their passwords, and what wrong passwords cost.

import Foundation
import OMCrypto
import OMSecrets
import OMServer
import OMServerStore
import TestSupport
import Testing

@Suite("Accounts of the server") struct AccountTests {
    @Test("a name has 1 to 128 bytes, and nothing that HTTP or a terminal would take for something else")
    func names() {
        for text in ["ana", "ana maria", "ünicode", String(repeating: "x", count: 128)] { #expect(AccountName(text) != nil) }
        for text in [
            "", " ana", "ana ", "a:b", "a\nb", "a\tb", "a\u{200B}b", "a\u{00A0}b", String(repeating: "x", count: 129),
        ] {
            #expect(AccountName(text) == nil, "\(text)")
        }
        // Two spellings of one letter are two names.
        #expect(AccountName("\u{E9}") != AccountName("e\u{301}"))
    }

    @Test("the right password gives tokens; a wrong one, an unknown name and no name at all have one answer")
    func passwords() throws {
        let server = try TestService()
        try server.add("ana", "pw-1&=+ü long")
        #expect(server.logIn("ana", "pw-1&=+ü long").status == 200)
        let wrong = server.logIn("ana", "pw-2 is wrong")
        #expect(wrong.status == 400)
        #expect(try wrong.text("error") == "invalid_grant")
        #expect(server.logIn("bob", "pw-2 is wrong") == wrong)
        #expect(server.logIn("a:b", "pw-2 is wrong") == wrong)
    }

    @Test("behind five wrong passwords each attempt waits, and the right one is not looked at before")
    func waits() throws {
        let server = try TestService()
        try server.add("ana", "right password")
        for _ in 0..<5 { #expect(server.logIn("ana", "wrong password").status == 400) }
        let early = server.logIn("ana", "right password")
        #expect(early.status == 429 && early.headers["retry-after"] == "2")
        // The refused attempt costs nothing more.
        server.pass(2)
        #expect(server.logIn("ana", "wrong password").status == 400)
        #expect(server.logIn("ana", "right password").headers["retry-after"] == "4")
        server.pass(4)
        #expect(server.logIn("ana", "right password").status == 200)
        // The right one takes the count back.
        for _ in 0..<5 { #expect(server.logIn("ana", "wrong password").status == 400) }
    }

    @Test("a wait has an end, and a clock that was put back does not make it longer")
    func longest() throws {
        let server = try TestService()
        try server.add("ana", "right password")
        for _ in 0..<20 {
            #expect(server.logIn("ana", "wrong password").status == 400)
            server.pass(900)
        }
        #expect(server.logIn("ana", "wrong password").status == 400)
        server.pass(-1_000_000)
        #expect(server.logIn("ana", "right password").headers["retry-after"] == "900")
        server.pass(1_000_899)
        #expect(server.logIn("ana", "right password").status == 429)
        server.pass(1)
        #expect(server.logIn("ana", "right password").status == 200)
    }

    @Test("attempts at once get no more guesses than attempts in turn")
    func race() async throws {
        let server = try TestService()
        try server.add("ana", "right password")
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<16 { group.addTask { server.logIn("ana", "wrong password").status } }
            return await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 400 } == 5 && statuses.count { $0 == 429 } == 11)
    }

    @Test("an attempt that is cut off behind its charge is counted")
    func cutOff() throws {
        let server = try TestService()
        try server.add("ana", "right password")
        // The comparison fails: the hash is none.
        let name = try #require(AccountName("ana"))
        #expect(try server.store.transaction(.write) { try AccountTable.setHash("no hash", of: name, $0) })
        #expect(throws: (any Error).self) {
            try server.passwords.check(
                name, Password(SecretBytes(copying: Array("right password".utf8).span)), in: server.store, now: server.now)
        }
        let account = try server.store.transaction(.read) { try AccountTable.find(name, $0) }
        #expect(account?.failures == 1)
    }

    @Test("an attempt that gets no turn costs nothing")
    func busy() throws {
        let server = try TestService()
        try server.add("ana", "right password")
        let full = try PasswordCheck(
            .argon2(.argon2id, .init(memoryKiB: 8 << 10, passes: 1, lanes: 1)), parallel: 1, waiting: 0)
        let name = try #require(AccountName("ana"))
        try full.whileBusy {
            #expect(throws: ServerProblem.busy()) {
                try full.check(
                    name, Password(SecretBytes(copying: Array("right password".utf8).span)), in: server.store, now: server.now)
            }
        }
        #expect(try server.store.transaction(.read) { try AccountTable.find(name, $0) }?.failures == 0)
    }

    @Test("a blocked account gets no token, its tokens are not valid, and only its own password learns that")
    func blocked() throws {
        let server = try TestService()
        try server.add("ana", "right password")
        let tokens = server.logIn("ana", "right password")
        try server.setBlocked(true, "ana")
        let blocked = server.logIn("ana", "right password")
        #expect(blocked.status == 400)
        #expect(try blocked.text("error_description") == "Account is blocked")
        #expect(try server.logIn("ana", "wrong password").text("error_description") != "Account is blocked")
        #expect(try server.refresh(tokens.text("refresh_token")).status == 400)
        // A thief's token is not good again.
        try server.setBlocked(false, "ana")
        #expect(try server.refresh(tokens.text("refresh_token")).status == 400)
        #expect(server.logIn("ana", "right password").status == 200)
    }

    @Test("names that no account has wait like accounts, so their answers tell nothing")
    func strangers() throws {
        let server = try TestService()
        try server.add("ana", "right password")
        for _ in 0..<8 { #expect(server.logIn("ana", "wrong password") == server.logIn("zoe", "wrong password")) }
        server.pass(2)
        #expect(server.logIn("ana", "wrong password") == server.logIn("zoe", "wrong password"))
        #expect(server.logIn("zoe", "wrong password").headers["retry-after"] == "4")
        server.pass(86_401)
        for _ in 0..<8 { #expect(server.logIn("ana", "wrong password") == server.logIn("zoe", "wrong password")) }
    }

    @Test("one address has 60 attempts a minute over all accounts")
    func address() throws {
        let limit = AttemptLimit()
        for _ in 0..<60 { #expect(limit.isAllowed("192.0.2.1", now: 120)) }
        #expect(!limit.isAllowed("192.0.2.1", now: 179))
        #expect(limit.isAllowed("192.0.2.2", now: 179))
        #expect(limit.isAllowed("192.0.2.1", now: 180))
        // One customer has 2^64 addresses of IPv6.
        #expect(ClientNetwork.of("2001:db8:1:2::1") == ClientNetwork.of("2001:db8:1:2:ffff::9"))
        #expect(ClientNetwork.of("2001:db8:1:2::1") != ClientNetwork.of("2001:db8:1:3::1"))
        #expect(ClientNetwork.of("192.0.2.1") == "192.0.2.1" && ClientNetwork.of("::1") == "::1")
    }

    @Test("the store has neither a password nor a token")
    func store() throws {
        let server = try TestService()
        try server.add("ana", "right password")
        let tokens = server.logIn("ana", "right password")
        let files = try server.folder.allBytes()
        #expect(files.count > 4096)
        for text in [try tokens.text("access_token"), try tokens.text("refresh_token"), "right password"] {
            #expect(!files.contains(Array(text.utf8)))
        }
    }
}

extension TestFolder {
    /// The bytes of all files in the folder.
    func allBytes() throws -> [UInt8] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted().flatMap { name in
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
        }
    }
}
#endif
