#if Server
// Tests of the SDK's service: the golden pairs at the server's end.

import Foundation
import OMSecrets
import OMServerStore
import Synchronization
import TestSupport
import Testing

@testable import OMServer

@Suite("The SDK's service", .onOwnThreads) struct SDKServiceTests {
    @Test("each golden pair gets its answer")
    func golden() throws {
        let peer = try SDKPeer()
        for id in ["1", "2", "3", "4", "5", "6", "7", "6-wrong", "8", "9", "11", "12", "13", "15", "13b", "15", "11-gone"] {
            try peer.play(id)
        }
        peer.server.pass(8 * 3600)
        try peer.play("12b")
    }

    @Test("the profile names the addresses of this server's services, and what the administrator set")
    func profile() throws {
        let (_, json) = try SDKPeer().send("4")
        let golden = try #require(SDKPeer.pairs["4"]?.answer)
        // This server has no profiles of users.
        let services = try #require(golden["services"] as? [String: String]).filter { $0.key != "userProfile" }
        #expect(json["services"] as? [String: String] == services)
        #expect(json["customAttributes"] as? [String: String] == golden["customAttributes"] as? [String: String])
    }

    @Test("an account with a question answers it when a device registers; an answer is tried once")
    func question() throws {
        let peer = try SDKPeer(questions: ["The name of your first school?": " \tGrüne SCHULE  "])
        try peer.play("6-asked")
        try peer.play("6-answered")
        try peer.play("8")
        // The same answer once more: its challenge is gone.
        let (again, _) = try peer.send("6-answered")
        #expect(again.status == 401)
        // Behind five wrong answers the next one waits.
        for _ in 0..<4 {
            try peer.play("6-asked")
            peer.real["Gr\u{FC}ne Schule"] = "wrong"
            #expect(try peer.send("6-answered").0.status == 401)
            peer.real["Gr\u{FC}ne Schule"] = nil
        }
        try peer.play("6-asked")
        peer.real["Gr\u{FC}ne Schule"] = "wrong"
        #expect(try peer.send("6-answered").0.status == 401)
        try peer.play("6-asked")
        peer.real["Gr\u{FC}ne Schule"] = nil
        #expect(try peer.send("6-answered").0.status == 429)
    }

    @Test("blanks at the ends of an answer and A to Z do not count, and an answer of blanks is none")
    func answers() throws {
        func isRight(_ given: String, _ kept: String) throws -> Bool {
            let peer = try SDKPeer(questions: ["The name of your first school?": kept])
            try peer.play("6-asked")
            peer.real["Gr\u{FC}ne Schule"] = given
            return try peer.send("6-answered").0.status == 200
        }
        #expect(try isRight("  AZ az@[`{  ", "az AZ@[`{"))
        #expect(try isRight("gr\u{FC}n", "GR\u{FC}N"))
        // Only the capitals of ASCII are folded, and blanks within count.
        #expect(try !isRight("gr\u{FC}n", "GR\u{DC}N"))
        #expect(try !isRight("a  b", "a b"))
        #expect(try !isRight("", "a"))
        let passwords = try SDKPeer().server.passwords
        for empty in ["", " ", "\t \r\n", "\u{0}"] {
            #expect(try passwords.hash(answer: SecretBytes(copying: Array(empty.utf8))) == nil)
        }
    }

    @Test("a handle is good for its user, its application and its domain only, and not as a token")
    func handles() throws {
        let peer = try SDKPeer()
        try peer.play("6")
        try peer.server.add("bob", "another password")
        peer.real["\"ana\""] = "\"bob\""
        peer.real["pw-1&=+\u{FC}"] = "another password"
        #expect(try peer.send("8").1["oicErrorCode"] as? String == "IDAAS-90002")
        (peer.real["\"ana\""], peer.real["pw-1&=+\u{FC}"]) = (nil, nil)
        peer.real["MobileServiceDomain"] = "AnotherDomain"
        #expect(try peer.send("8").1["oicErrorCode"] as? String == "IDAAS-90002")
        peer.real["MobileServiceDomain"] = nil
        peer.real["ut1"] = peer.real["h4ndle"]
        #expect(try peer.send("13").0.status == 401)
        #expect(try peer.send("11").0.status == 401)
    }

    @Test("the newest 64 handles of a user are good: each login registers")
    func manyHandles() throws {
        let peer = try SDKPeer()
        try peer.play("6")
        let first = try #require(peer.real["h4ndle"])
        for number in 1...64 {
            peer.server.pass(1)
            try peer.play("6")
            if number == 1 { try peer.play("8") }
        }
        try peer.play("8")
        peer.real["h4ndle"] = first
        #expect(try peer.send("8").1["oicErrorCode"] as? String == "IDAAS-90002")
    }

    /// The status of a question about a token.
    private func validation(of token: String, _ server: TestService) -> Int {
        server.routes.answer(
            ServerRequest(
                .get, path: ["oic_rest", "rest", "jwtoamauthentication", "tokens", "info"],
                query: [("X-Idaas-Rest-Subject-Type", "TOKEN"), ("X-Idaas-Rest-Subject-Value", token)], client: "192.0.2.7")
        ).status
    }

    @Test("an access token ends with its user token at the latest")
    func ends() throws {
        let peer = try SDKPeer()
        for id in ["6", "8"] { try peer.play(id) }
        peer.server.pass(8 * 3600 - 60)
        try peer.play("11")
        let access = try #require(peer.real["at1"])
        peer.server.pass(59)
        #expect(validation(of: access, peer.server) == 200)
        peer.server.pass(1)
        #expect(validation(of: access, peer.server) == 401)
    }

    @Test("a password that is changed, or a token that is deleted, before a token is issued gives none")
    func lateChanges() throws {
        let peer = try SDKPeer(), server = peer.server
        server.store.beforeWrite(3) { try server.changePassword(of: "ana", to: "pw-2 is the new one") }
        #expect(try peer.send("6").1["oicErrorCode"] as? String == "IDAAS-90001")
        #expect(try server.store.transaction(.read) { try $0.rows("SELECT * FROM sdk_token") }.isEmpty)
        try server.changePassword(of: "ana", to: "pw-1&=+ü")
        for id in ["6", "8"] { try peer.play(id) }
        func delete(_ name: String) throws -> @Sendable () throws -> Void {
            let digest = TokenText.digest(try #require(peer.real[name]))
            return { try server.store.transaction(.write) { try SDKTokenTable.remove(digest, $0) } }
        }
        server.store.beforeWrite(1, try delete("ut1"))
        #expect(try peer.send("11").1["oicErrorCode"] as? String == "IDAAS-90003")
        server.store.beforeWrite(3, try delete("h4ndle"))
        #expect(try peer.send("8").1["oicErrorCode"] as? String == "IDAAS-90002")
        #expect(server.store.isDone)
        #expect(try server.store.transaction(.read) { try $0.rows("SELECT * FROM sdk_token") }.isEmpty)
    }

    @Test("a logout that waits while a token is issued ends that token too")
    func lateLogout() async throws {
        let peer = try SDKPeer(try await TestStore(.postgres).make(ServerTables.schema)), server = peer.server
        for id in ["6", "8"] { try peer.play(id) }
        let digest = TokenText.digest(try #require(peer.real["h4ndle"]))
        let logout = Mutex(false)
        server.store.before("INSERT INTO sdk_token") { transaction in
            Thread.detachNewThread {
                #expect(throws: Never.self) { try server.store.transaction(.write) { try SDKTokenTable.remove(digest, $0) } }
                logout.withLock { $0 = true }
            }
            try transaction.awaitBlocked(server.store) { logout.withLock { $0 } }
        }
        try peer.play("11")
        try await eventually { logout.withLock { $0 } }
        #expect(validation(of: try #require(peer.real["at1"]), server) == 401)
    }

    @Test("a wrong form gets an error in the service's own form")
    func forms() throws {
        let server = try SDKPeer().server
        func post(_ body: String, _ type: String = "application/json", _ method: ServerRequest.Method = .post) -> ServerResponse {
            server.routes.answer(
                ServerRequest(
                    method, path: ["idaas_rest", "rest", "jwtauthentication", "authenticate"], headers: ["content-type": type],
                    body: Array(body.utf8), client: "192.0.2.7"))
        }
        #expect(post("{").status == 400)
        #expect(post("[]").status == 400)
        #expect(post("{}").status == 400)
        #expect(post("{}", "text/plain").status == 415)
        let method = post("{}", "application/json", .get)
        #expect(method.status == 405 && method.headers["allow"] == "POST")
        for answer in [post("{"), method] { #expect(answer.member("oicErrorCode") != nil) }
        let twice = #"{"X-Idaas-Rest-Subject-Password":"a","X-Idaas-Rest-Subject-Password":"b"}"#
        #expect(post(twice).status == 400)
        // One question has one answer, wherever the second one is.
        let start = #"{"X-Idaas-Rest-New-Token-Type-To-Create":"USERTOKEN","#
        let challenge = #""challenge":{"handle":"c","answers":[{"answerStr":"b"}]}}"#
        #expect(post(start + challenge).status == 401)
        #expect(post(start + #""answerStr":"a","# + challenge).status == 400)
    }

    @Test("the store has no password, no answer, no handle and no token of this service")
    func store() throws {
        let peer = try SDKPeer(questions: ["The name of your first school?": "canary answer"])
        try peer.play("6-asked")
        peer.real["Gr\u{FC}ne Schule"] = "canary answer"
        try peer.play("6-answered")
        try peer.play("8")
        let files = try peer.server.folder.allBytes()
        // The search reads the right files: a question is no secret.
        #expect(files.contains(Array("The name of your first school?".utf8)))
        for text in ["canary answer", "pw-1&=+ü", peer.real["h4ndle"], peer.real["ut1"]] {
            #expect(!files.contains(Array(try #require(text).utf8)))
        }
    }
}
#endif
