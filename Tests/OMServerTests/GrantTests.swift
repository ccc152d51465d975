#if Server
// Tests of grants: OAuth 2.0 as docs/formats/server-protocol.md has it.

import Foundation
import OMJSON
import OMSecrets
import OMServer
import OMServerStore
import Synchronization
import TestSupport
import Testing

@Suite("Grants of the server", .onOwnThreads) struct GrantTests {
    private func service() throws -> TestService {
        let server = try TestService()
        try server.add("ana", "right password")
        return server
    }

    /// What introspection says of a token.
    private func isActive(_ token: String, _ server: TestService) throws -> Bool {
        let secret = try server.store.transaction(.write) { transaction in
            _ = try ClientTable.remove("checker", transaction)
            return try ClientTable.add("checker", [.profile], now: 0, transaction)
        }
        let answer = server.post(
            ["oauth2", "introspect"],
            [("client_id", "checker"), ("client_secret", try #require(secret)), ("token", token)])
        #expect(answer.status == 200)
        return answer.member("active") == .bool(true)
    }

    @Test("a refresh gives new tokens; the one before stays good until the new one is used")
    func rotation() throws {
        let server = try service()
        let first = try server.logIn("ana", "right password").text("refresh_token")
        // The answer got lost: the client comes again with the same token.
        let lost = server.refresh(first)
        let second = server.refresh(first)
        #expect(lost.status == 200 && second.status == 200)
        // What the lost answer had is not good.
        #expect(try !isActive(lost.text("access_token"), server))
        #expect(try isActive(second.text("access_token"), server))
        let third = try server.refresh(second.text("refresh_token"))
        #expect(third.status == 200)
        #expect(try server.refresh(third.text("refresh_token")).status == 200)
    }

    @Test("a spent refresh token ends the grant with all its tokens")
    func reuse() throws {
        let server = try service()
        let first = try server.logIn("ana", "right password").text("refresh_token")
        let second = server.refresh(first)
        let third = try server.refresh(second.text("refresh_token"))
        #expect(third.status == 200)
        #expect(try server.refresh(first).text("error") == "invalid_grant")
        #expect(try server.refresh(third.text("refresh_token")).status == 400)
        #expect(try !isActive(third.text("access_token"), server))
    }

    @Test("a thief who uses a copied token, and the owner who uses his, end up without")
    func thief() throws {
        let server = try service()
        let copied = try server.logIn("ana", "right password").text("refresh_token")
        let thief = server.refresh(copied)
        #expect(thief.status == 200)
        // The owner's device comes with the same token: the thief's new ones are spent.
        let owner = server.refresh(copied)
        #expect(owner.status == 200)
        #expect(try server.refresh(thief.text("refresh_token")).status == 400)
        #expect(try server.refresh(owner.text("refresh_token")).status == 400)
    }

    @Test("two refreshes at once with one token leave one pair of tokens that is good")
    func race() async throws {
        let server = try service()
        let first = try server.logIn("ana", "right password").text("refresh_token")
        let answers = await withTaskGroup(of: ServerResponse.self) { group in
            for _ in 0..<8 { group.addTask { server.refresh(first) } }
            return await group.reduce(into: [ServerResponse]()) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0.status == 200 })
        var active = 0
        for answer in answers where try isActive(answer.text("access_token"), server) { active += 1 }
        #expect(active == 1)
    }

    @Test("a password that is changed after it was compared, and before its tokens are issued, gives none")
    func lateChange() throws {
        let server = try service()
        server.store.beforeWrite(3) { try server.changePassword(of: "ana", to: "another password") }
        #expect(try server.logIn("ana", "right password").text("error") == "invalid_grant")
        #expect(server.store.isDone)
        #expect(try server.store.transaction(.read) { try GrantTable.all(of: nil, $0) }.isEmpty)
        #expect(server.logIn("ana", "another password").status == 200)
    }

    @Test("an administrator who ends all logins while tokens are issued ends those too")
    func lateEnd() async throws {
        let server = try TestService(try await TestStore(.postgres).make(ServerTables.schema))
        try server.add("ana", "right password")
        let end = Mutex(false)
        server.store.before("INSERT INTO token") { transaction in
            Thread.detachNewThread {
                #expect(throws: Never.self) { try server.changePassword(of: "ana", to: "another password") }
                end.withLock { $0 = true }
            }
            try transaction.awaitBlocked(server.store) { end.withLock { $0 } }
        }
        #expect(server.logIn("ana", "right password").status == 200)
        try await eventually { end.withLock { $0 } }
        #expect(try server.store.transaction(.read) { try GrantTable.all(of: nil, $0) }.isEmpty)
    }

    @Test("tokens end: an access token after 15 minutes, a refresh token 90 days after its last use")
    func ends() throws {
        let server = try service()
        let tokens = server.logIn("ana", "right password")
        server.pass(GrantService.accessTime - 1)
        #expect(try isActive(tokens.text("access_token"), server))
        server.pass(1)
        #expect(try !isActive(tokens.text("access_token"), server))
        server.pass(GrantService.refreshTime - GrantService.accessTime - 1)
        let later = try server.refresh(tokens.text("refresh_token"))
        #expect(later.status == 200)
        server.pass(GrantService.refreshTime)
        #expect(try server.refresh(later.text("refresh_token")).status == 400)
        let now = server.now + 86_401
        try server.store.transaction(.write) { try GrantTable.collect(now: now, $0) }
        #expect(try server.store.transaction(.read) { try GrantTable.all(of: nil, $0) }.isEmpty)
    }

    @Test("a scope is granted only if it is asked for and known, and a refresh widens nothing")
    func scopes() throws {
        let server = try service()
        #expect(try server.logIn("ana", "right password", scope: nil).text("scope") == "profile")
        #expect(try server.logIn("ana", "right password", scope: "sync profile").text("scope") == "profile sync")
        #expect(try server.logIn("ana", "right password", scope: "root").text("error") == "invalid_scope")
        let token = try server.logIn("ana", "right password", scope: "sync").text("refresh_token")
        let wider = server.post(
            ["oauth2", "token"],
            [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", "omvault"), ("scope", "sync profile")])
        #expect(try wider.text("error") == "invalid_scope")
    }

    @Test("revocation: a refresh token ends its grant, an access token ends alone, an unknown one is no error")
    func revocation() throws {
        let server = try service()
        let tokens = server.logIn("ana", "right password")
        func revoke(_ token: String) -> Int {
            server.post(["oauth2", "revoke"], [("client_id", "omvault"), ("token", token)]).status
        }
        #expect(revoke("omva_nothing") == 200)
        #expect(try revoke(tokens.text("access_token")) == 200)
        #expect(try !isActive(tokens.text("access_token"), server))
        let next = try server.refresh(tokens.text("refresh_token"))
        #expect(next.status == 200)
        #expect(try revoke(next.text("refresh_token")) == 200)
        #expect(try !isActive(next.text("access_token"), server))
        #expect(try server.refresh(next.text("refresh_token")).status == 400)
    }

    @Test("a client with a secret gets a token of its own, and no refresh token; without it, none")
    func clients() throws {
        let server = try service()
        let secret = try #require(
            try server.store.transaction(.write) { try ClientTable.add("backup", [.profile], now: 0, $0) })
        let form = [("grant_type", "client_credentials"), ("client_id", "backup")]
        let answer = server.post(["oauth2", "token"], form + [("client_secret", secret)])
        #expect(answer.status == 200 && answer.member("refresh_token") == nil)
        for wrong in [
            form, form + [("client_secret", "wrong")], [("grant_type", "client_credentials"), ("client_id", "unknown")],
        ] {
            let answer = server.post(["oauth2", "token"], wrong)
            #expect(answer.status == 401 && answer.headers["www-authenticate"] != nil)
        }
        let own = server.post(["oauth2", "token"], [("grant_type", "client_credentials"), ("client_id", "omvault")])
        #expect(try own.text("error") == "unauthorized_client")
        #expect(try server.store.transaction(.write) { try ClientTable.add("omvault", [.profile], now: 0, $0) } == nil)
    }

    @Test("a client sends its secret in the header or in the body, and not in both; the public client sends an empty one")
    func headers() throws {
        let server = try service()
        let secret = try #require(
            try server.store.transaction(.write) { try ClientTable.add("backup", [.profile], now: 0, $0) })
        #expect(secret.hasPrefix("omvs_") && secret.utf8.count == 48)
        func send(_ pair: String, _ fields: [(String, String)] = []) -> ServerResponse {
            server.post(
                ["oauth2", "token"], [("grant_type", "client_credentials")] + fields,
                ["authorization": "Basic \(Base64.encode(Array(pair.utf8)))"])
        }
        #expect(send("backup:\(secret)").status == 200)
        // Name and secret are form-encoded within.
        #expect(send("b%61ckup:%6Fmvs%5F\(secret.dropFirst(5))").status == 200)
        for wrong in [
            "", "backup", "backup:", "backup:wrong", "backup:\(secret)x", "backup:%zz", "backup:\(secret)%", ":\(secret)",
            "other:\(secret)", "omvault:\(secret)", "%ff:\(secret)",
        ] {
            #expect(send(wrong).status == 401, "\(wrong)")
        }
        #expect(send("backup:\(secret)", [("client_secret", secret)]).status == 401)
        #expect(try send("omvault:").text("error") == "unauthorized_client")
    }

    @Test("a token of one client is not good for another one's refresh, revocation and introspection")
    func foreign() throws {
        let server = try service()
        let secret = try #require(
            try server.store.transaction(.write) { try ClientTable.add("other", [.profile], now: 0, $0) })
        let tokens = server.logIn("ana", "right password")
        let other = [("client_id", "other"), ("client_secret", secret)]
        let refresh = try server.post(
            ["oauth2", "token"], other + [("grant_type", "refresh_token"), ("refresh_token", tokens.text("refresh_token"))])
        #expect(try refresh.text("error") == "invalid_grant")
        #expect(try server.post(["oauth2", "revoke"], other + [("token", tokens.text("refresh_token"))]).status == 200)
        #expect(try server.refresh(tokens.text("refresh_token")).status == 200)
        let open = try server.post(
            ["oauth2", "introspect"], [("client_id", "omvault"), ("token", tokens.text("access_token"))])
        #expect(open.status == 401)
    }

    @Test("a form that is not exactly one is refused")
    func forms() throws {
        let server = try service()
        func status(_ body: String, _ type: String = "application/x-www-form-urlencoded") -> Int {
            server.routes.answer(
                ServerRequest(
                    .post, path: ["oauth2", "token"], headers: ["content-type": type], body: Array(body.utf8),
                    client: "192.0.2.1")
            ).status
        }
        for body in [
            "", "grant_type", "grant_type=password&grant_type=password", "grant_type=%zz", "grant_type=%ff",
            "grant_type=magic",
        ] {
            #expect(status(body) == 400, "\(body)")
        }
        #expect(status("grant_type=password", "application/json") == 415)
    }

    @Test("the metadata names the endpoints, and no authorization endpoint")
    func metadata() throws {
        let answer = try service().get([".well-known", "oauth-authorization-server"])
        #expect(answer.status == 200)
        #expect(try answer.text("issuer") == TestService.address)
        #expect(try answer.text("token_endpoint") == "\(TestService.address)/oauth2/token")
        #expect(answer.member("authorization_endpoint") == nil)
    }

    @Test("another method and another path have their own answers")
    func routes() throws {
        let server = try service()
        let method = server.get(["oauth2", "token"])
        #expect(method.status == 405 && method.headers["allow"] == "POST")
        #expect(server.get(["nothing"]).status == 404)
        #expect(server.get([]).status == 404)
        #expect(server.get(["healthz"]).status == 200)
    }
}
#endif
