// The requests of one test at the odd server, which all tests share.

import Foundation
import TestSupport
import Testing

/// One test's requests at the odd server. Its addresses begin with a word that no other test uses.
struct Trace {
    private let server: Server
    private let word = UUID().uuidString

    init() async throws { server = try await Server.odd.value }

    /// An address over http for the requests of this test.
    func url(_ path: String) -> String { server.url("/for/\(word)\(path)", "http", scheme: "http") }

    /// The requests since the last call.
    func seen() throws -> [SeenRequest] {
        let path = "\(server["seen"])-\(word)"
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let file = try FileHandle(forUpdating: URL(filePath: path))
        defer { try? file.close() }
        let lines = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n")
        try file.truncate(atOffset: 0)
        return try lines.map { line in
            let row = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [Any])
            return SeenRequest(
                method: row[0] as? String ?? "", target: row[1] as? String ?? "",
                fields: row[2] as? [String: String] ?? [:], body: row[3] as? String ?? "")
        }
    }
}

/// A request: method, target without the test's word, fields, body.
struct SeenRequest: Sendable {
    let method: String
    let target: String
    let fields: [String: String]
    let body: String
}
