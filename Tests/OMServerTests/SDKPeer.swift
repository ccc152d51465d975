#if Server
// A client of the SDK's service, which sends the requests of the golden pairs.

import Foundation
import OMSecrets
import OMServer
import OMServerStore
import TestSupport
import Testing

/// A server with the account and the application of the pairs. `real` has the tokens that the server gave for those of the
/// pairs.
final class SDKPeer {
    /// A pair of Tests/Golden/mobile-social/pairs.json.
    struct Pair: @unchecked Sendable {
        let request: [String: Any]
        let status: Int
        let answer: [String: Any]?
    }

    static let pairs: [String: Pair] = {
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

    let server: TestService
    var real: [String: String] = [:]

    init(_ store: (any ServerStore)? = nil, questions: [String: String] = [:]) throws {
        server = try TestService(store)
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
            let hash = try #require(try server.passwords.hash(answer: SecretBytes(copying: Array(answer.utf8)))),
                ana = try #require(AccountName("ana"))
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
        let pair = try #require(Self.pairs[id])
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
        let pair = try #require(Self.pairs[id])
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
#endif
