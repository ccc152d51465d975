import Foundation
import OMRecords
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

/// A server of Tests/Servers, which ends with this process at the latest.
final class Server: Sendable {
    static let nginx = Result { try Server("nginx") }
    static let odd = Result { try Server("odd") }
    static let glewlwyd = Result { try Server("glewlwyd") }

    let facts: [String: String]
    private let process: Process
    private let input: Pipe

    init(_ kind: String) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/omvault-" + UUID().uuidString
        (process, input) = (Process(), Pipe())
        let output = Pipe()
        process.executableURL = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Servers/serve")
        process.arguments = [kind, folder]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try? output.fileHandleForWriting.close()
        var text = ""
        while !text.hasSuffix("ready\n") {
            let more = output.fileHandleForReading.availableData
            try #require(!more.isEmpty, "\(kind) did not start: \(text)")
            text += String(decoding: more, as: UTF8.self)
        }
        facts = Dictionary(
            uniqueKeysWithValues: text.split(separator: "\n").dropLast().map { line in
                (String(line.prefix { $0 != "=" }), String(line.drop { $0 != "=" }.dropFirst()))
            })
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    subscript(_ key: String) -> String { facts[key] ?? "no \(key)" }

    var ca: [UInt8] { contents("ca") }

    func contents(_ key: String) -> [UInt8] { Array(FileManager.default.contents(atPath: self[key]) ?? Data()) }

    /// An address at this server.
    func url(_ path: String, _ key: String = "port", scheme: String = "https", host: String = "localhost") -> String {
        "\(scheme)://\(host):\(self[key])\(path)"
    }
}

/// Long enough for any machine: what a test does not measure must not fail by it.
let patient = OnlineDeadlines(connect: 60_000, total: 60_000)

func basic(
    _ login: String, logout: String? = nil, tokens: [String] = [], domain: OnlineService.Domain? = nil,
    headers: [OnlineService.Header] = [], trusted: [UInt8]? = nil, profile: String? = nil,
    deadlines: OnlineDeadlines = patient
) -> HTTPBasicProvider {
    let kind = BasicService(login: login, logout: logout, requiredTokens: tokens)
    let service = OnlineService(
        .basic(kind), domain: domain, headers: headers, trusted: trusted, profile: profile, deadlines: deadlines)
    return HTTPBasicProvider(service, kind)
}

func oauth(
    _ endpoint: OAuthService.Endpoint, client: String = "native", scopes: [String] = [], header: Bool = false,
    domain: OnlineService.Domain? = nil, trusted: [UInt8]? = nil, deadlines: OnlineDeadlines = patient
) -> OAuthProvider {
    let kind = OAuthService(endpoint, clientID: client, scopes: scopes, includesClientHeader: header)
    return OAuthProvider(OnlineService(.oauth(kind), domain: domain, trusted: trusted, deadlines: deadlines), kind)
}

func bytes(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

/// What stood in the way; nil when the server accepted.
func refusal(_ body: () async throws(OnlineRefusal) -> OnlineGrant) async -> OnlineRefusal? {
    do throws(OnlineRefusal) {
        _ = try await body()
        return nil
    } catch { return error }
}

extension HTTPBasicProvider {
    func refusal(_ user: String = "alice", _ password: String = "correct horse 42") async -> OnlineRefusal? {
        let password = bytes(password)
        do throws(OnlineRefusal) {
            _ = try await logIn(user, password: password)
            return nil
        } catch { return error }
    }

    /// The session of a login that is accepted.
    func session(_ user: String = "alice", _ password: String = "correct horse 42") async throws -> SecretBytes {
        let password = bytes(password)
        return try await logIn(user, password: password).newSession()
    }
}

extension OAuthProvider {
    func refusal(
        _ user: String = "alice", _ password: String = "correct horse 42", secret: String = ""
    ) async -> OnlineRefusal? {
        let password = bytes(password)
        let secret = bytes(secret)
        do throws(OnlineRefusal) {
            _ = try await logIn(user, password: password, clientSecret: secret)
            return nil
        } catch { return error }
    }

    func session(
        _ user: String = "alice", _ password: String = "correct horse 42", secret: String = ""
    ) async throws -> SecretBytes {
        let password = bytes(password)
        let secret = bytes(secret)
        return try await logIn(user, password: password, clientSecret: secret).newSession()
    }
}

struct NoSession: Error {}

extension OnlineGrant {
    consuming func newSession() throws -> SecretBytes {
        guard let session = takeSession() else { throw NoSession() }
        return session
    }

    consuming func hasSession() -> Bool {
        switch takeSession() {
        case .some: true
        case .none: false
        }
    }
}

extension SecretBytes {
    borrowing func tokens() throws -> Session.Tokens {
        guard case .tokens(let tokens) = try Session(self) else { throw NoSession() }
        return tokens
    }

    borrowing func cookies() throws -> CookieJar {
        guard case .cookies(let jar) = try Session(self) else { throw NoSession() }
        return jar
    }
}
