// The golden pairs of the Mobile and Social service, and a server that knows only these: Tests/Servers/oamms.py.

import Foundation
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

/// One test's server. It expects exactly the requests of its script, in their order.
struct GoldenPeer {
    static let phone = DeviceClaims(system: "iPhone OS", type: "iOS", version: "8.1")
    static let password = "pw-1&=+ü"

    let server: Server

    init(_ lines: [String]) async throws {
        server = try await Server("oamms")
        try expect(lines)
    }

    /// The requests from now on.
    func expect(_ lines: [String]) throws {
        try Data().write(to: URL(filePath: server["seen"]))
        try Data().write(to: URL(filePath: server["raw"]))
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: server["script"]))
    }

    /// The pairs that were seen, or how a request differs.
    func seen() throws -> [String] {
        try String(contentsOfFile: server["seen"], encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// Every byte of the requests.
    func raw() throws -> String { String(decoding: try Data(contentsOf: URL(filePath: server["raw"])), as: UTF8.self) }

    func service(
        _ application: String = "WhitePages", secure: Bool = true, headers: [OnlineService.Header] = []
    ) -> (OnlineService, OAMMSService) {
        let address = secure ? server.url("") : server.url("", "plain", scheme: "http", host: "127.0.0.1")
        let oamms = OAMMSService(address, serviceDomain: "MobileServiceDomain", application: application)
        return (OnlineService(.oamms(oamms), headers: headers, trusted: server.ca, deadlines: patient), oamms)
    }

    func provider(
        _ application: String = "WhitePages", secure: Bool = true, headers: [OnlineService.Header] = [],
        device: DeviceClaims = phone
    ) -> OAMMSProvider {
        let (service, oamms) = service(application, secure: secure, headers: headers)
        return OAMMSProvider(service, oamms, device: device)
    }
}

/// A request and its answer in Tests/Golden/mobile-social/pairs.json.
struct GoldenPair: Decodable {
    struct Request: Decodable { let target: String, headers: [String: String] }
    struct Answer: Decodable { let status: Int, headers: [String: String]? }
    private struct File: Decodable { let pairs: [GoldenPair] }

    let id: String
    let request: Request
    let answer: Answer

    static func all() throws -> [String: GoldenPair] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Golden/mobile-social/pairs.json")
        let pairs = try JSONDecoder().decode(File.self, from: Data(contentsOf: file)).pairs
        return Dictionary(uniqueKeysWithValues: pairs.map { ($0.id, $0) })
    }
}

extension OAMMSProvider {
    func refusal(_ password: String = GoldenPeer.password, user: String = "ana") async -> OnlineRefusal? {
        do throws(OnlineRefusal) {
            let secret = bytes(password)
            switch try await logIn(user, password: secret) {
            case .granted: return nil
            case .asked: return .failed(.challenge)
            }
        } catch { return error }
    }

    func grant(_ password: String = GoldenPeer.password) async throws -> OnlineGrant {
        let secret = bytes(password)
        return try await logIn("ana", password: secret).grant()
    }
}

struct Asked: Error { let questions: [String] }

extension OAMMSProvider.Reply {
    consuming func grant() throws -> OnlineGrant {
        switch consume self {
        case .granted(let grant): return grant
        case .asked(let questions, _): throw Asked(questions: questions)
        }
    }

    consuming func question() throws -> (texts: [String], state: Kept) {
        switch consume self {
        case .granted: throw NoSession()
        case .asked(let questions, let state): return (questions, Kept(state))
        }
    }
}

/// A secret that a tuple can hold.
final class Kept {
    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}
