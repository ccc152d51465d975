#if Server
// Tests of the SDK's service: the golden pairs at the server's end.

import Foundation
import OMSecrets
import OMServer
import OMServerStore
import TestSupport
import Testing

@Suite("The SDK's service") struct SDKServiceTests {
    /// A pair of Tests/Golden/mobile-social/pairs.json.
    private struct Pair: @unchecked Sendable {
        let request: [String: Any]
        let status: Int
        let answer: [String: Any]?
    }

    private static let pairs: [String: Pair] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Golden/mobile-social/pairs.json")
        guard let data = try? Data(contentsOf: file), let all = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            let list = all["pairs"] as? [[String: Any]]
        else { return [:] }
        var pairs: [String: Pair] = [:]
        for one in list {
            guard let id = one["id"] as? String, let request = one["request"] as? [String: Any],
                let answer = one["answer"] as? [String: Any], let status = answer["status"] as? Int
            else { continue }
            pairs[id] = Pair(request: request, status: status, answer: answer["json"] as? [String: Any])
        }
        return pairs
    }()

    /// A server with the account and the application of the pairs. `real` has the tokens that the server gave for those of the
    /// pairs.
    private final class Peer {
        let server: TestService
        var real: [String: String] = [:]

        init(questions: [String: String] = [:]) throws {
            server = try TestService()
            try server.add("ana", "pw-1&=+ü")
            for epoch in 1...7 {
                try server.store.transaction(.write) {
                    _ = try PolicyTable.change(
                        "WhitePages",
                        [
                            "OfflineAuthAllowed": "true", "MaxLoginAttempts": epoch == 7 ? "3" : "9",
                            "CryptoScheme": "SaltedSHA-256",
                            "LocationUpdateEnabled": "500",
                        ], $0)
                }
            }
            for (question, answer) in questions {
                let hash = try #require(try server.passwords.hash(answer: SecretBytes(copying: Array(answer.utf8)))), ana = try #require(AccountName("ana"))
                #expect(try server.store.transaction(.write) { try QuestionTable.add(question, hash: hash, of: ana, $0) })
            }
        }

        /// The text with the server's own tokens in the place of the golden ones.
        func mine(_ text: String) -> String {
            var text = text
            for (golden, real) in real {
                // A token is a whole value: a short one of the pairs can be part of a random one.
                guard real.hasPrefix("omva_") else {
                    text = text.replacing(golden, with: real)
                    continue
                }
                text = text.replacing("\"\(golden)\"", with: "\"\(real)\"").replacing("=\(golden)&", with: "=\(real)&")
                    .replacing(
                        Data("WhitePages:\(golden)".utf8).base64EncodedString(),
                        with: Data("WhitePages:\(real)".utf8).base64EncodedString())
            }
            return text
        }

        func send(_ id: String) throws -> (ServerResponse, [String: Any]) {
            let pair = try #require(SDKServiceTests.pairs[id])
            let target = mine(try #require(pair.request["target"] as? String))
            let parts = target.split(separator: "?", maxSplits: 1)
            let query = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { part in
                let sides = part.split(separator: "=", maxSplits: 1)
                return (name: String(sides[0]), value: String(sides[1]).removingPercentEncoding ?? "")
            }
            var headers: [String: String] = [:]
            for (name, value) in pair.request["headers"] as? [String: String] ?? [:] { headers[name.lowercased()] = mine(value) }
            let body = try pair.request["json"].map { try JSONSerialization.data(withJSONObject: $0) }
            let method = try #require(ServerRequest.Method(rawValue: pair.request["method"] as? String ?? ""))
            let answer = server.routes.answer(
                ServerRequest(
                    method, path: parts[0].split(separator: "/").map(String.init), query: query, headers: headers,
                    body: Array(mine(String(decoding: body ?? Data(), as: UTF8.self)).utf8), client: "192.0.2.7"))
            let json = answer.body.isEmpty ? nil : try JSONSerialization.jsonObject(with: Data(answer.body))
            return (answer, json as? [String: Any] ?? [:])
        }

        /// Sends the request of a pair, and compares the answer with the pair's.
        func play(_ id: String) throws {
            let pair = try #require(SDKServiceTests.pairs[id])
            let (answer, json) = try send(id)
            #expect(answer.status == pair.status, "\(id): \(json)")
            for (name, golden) in pair.answer ?? [:] where name != "anything" {
                if name.hasSuffix("Token-Value"), let golden = golden as? String, let value = json[name] as? String {
                    if let known = real[golden], id != "1", id != "6", id != "6-answered", id != "8", id != "11" {
                        #expect(value == known, "\(id)")
                    }
                    real[golden] = value
                } else if name == "challenge", let challenge = json[name] as? [String: Any] {
                    let questions = try #require(challenge["questions"] as? [[String: Any]])
                    #expect(
                        questions.count == 1
                            && Set(questions[0].keys) == ["challengeType", "locale", "questionRefId", "questionStr"])
                    real["c1"] = challenge["handle"] as? String
                    real["\"q1\""] = "\"\(questions[0]["questionRefId"] as? String ?? "")\""
                } else if ["epoch", "offlineAuthAllowed", "maxLoginAttempts", "name", "message", "oicErrorCode"].contains(name)
                    || name.hasPrefix("X-")
                {
                    #expect("\(json[name] ?? "none")" == "\(golden)", "\(id): \(name)")
                }
            }
        }
    }

    @Test("each golden pair gets its answer")
    func golden() throws {
        let peer = try Peer()
        for id in ["1", "2", "3", "4", "5", "6", "7", "6-wrong", "8", "9", "11", "12", "13", "15", "13b", "15", "11-gone"] {
            try peer.play(id)
        }
        peer.server.pass(8 * 3600)
        try peer.play("12b")
    }

    @Test("the profile names the addresses of this server's services, and what the administrator set")
    func profile() throws {
        let (_, json) = try Peer().send("4")
        let golden = try #require(Self.pairs["4"]?.answer)
        let services = try #require(json["services"] as? [String: String])
        for (name, address) in services { #expect((golden["services"] as? [String: String])?[name] == address) }
        #expect(json["customAttributes"] as? [String: String] == golden["customAttributes"] as? [String: String])
    }

    @Test("an account with a question answers it when a device registers; an answer is tried once")
    func question() throws {
        let peer = try Peer(questions: ["The name of your first school?": " \tGrüne SCHULE  "])
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
            let peer = try Peer(questions: ["The name of your first school?": kept])
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
        let passwords = try Peer().server.passwords
        for empty in ["", " ", "\t \r\n", "\u{0}"] {
            #expect(try passwords.hash(answer: SecretBytes(copying: Array(empty.utf8))) == nil)
        }
    }

    @Test("a handle is good for its user, its application and its domain only, and not as a token")
    func handles() throws {
        let peer = try Peer()
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
        let peer = try Peer()
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

    @Test("a wrong form gets an error in the service's own form")
    func forms() throws {
        let server = try Peer().server
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
        let peer = try Peer(questions: ["The name of your first school?": "canary answer"])
        try peer.play("6-asked")
        peer.real["Gr\u{FC}ne Schule"] = "canary answer"
        try peer.play("6-answered")
        try peer.play("8")
        let files = try peer.server.folder.allBytes()
        for text in ["canary answer", "pw-1&=+ü", peer.real["h4ndle"], peer.real["ut1"]] {
            #expect(!files.contains(Array(try #require(text).utf8)))
        }
    }
}
#endif
