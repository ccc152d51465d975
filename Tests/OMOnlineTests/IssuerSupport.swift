// An issuer whose answers a test writes: documents and key sets at the odd server, and ID tokens that the test signs.

import Foundation
import Glibc
import NIOHTTP1
import OMCrypto
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

/// A key that signs ID tokens.
final class SigningKey: Sendable {
    let key: PrivateKey
    let algorithm: JWSAlgorithm

    private init(_ algorithm: JWSAlgorithm, _ kind: KeyKind) {
        self.algorithm = algorithm
        do { key = try PrivateKey.generate(kind) } catch { fatalError("no key: \(error)") }
    }

    static let p256 = SigningKey(.es256, .ec(.p256))
    static let otherP256 = SigningKey(.es256, .ec(.p256))
    static let p384 = SigningKey(.es384, .ec(.p384))
    static let ed25519 = SigningKey(.edDSA, .ed25519)

    /// The public half as a JWK.
    func jwk(_ members: String = "") throws -> String {
        String(try key.publicKey().jwk().dropLast()) + (members.isEmpty ? "" : ",") + members + "}"
    }

    func token(_ claims: Claims, keyID: String? = nil) throws -> String {
        try token(json: claims.json, keyID: keyID)
    }

    func token(json: String, keyID: String? = nil) throws -> String {
        let token = try JWS.sign(Array(json.utf8), JWSHeader(algorithm, keyID: keyID), with: key)
        return token.withBytes { token in String(decoding: token.indices.map { token[$0] }, as: UTF8.self) }
    }
}

func keySet(_ keys: String...) -> String { "{\"keys\":[\(keys.joined(separator: ","))]}" }

/// The claims of an ID token as JSON texts, by name.
struct Claims {
    var members: [String: String]

    init(
        issuer: String = "https://i.example", client: String = "native", nonce: String? = "n", now: Int64 = UnixTime.now(),
        more: [String: String] = [:]
    ) {
        members = [
            "iss": "\"\(issuer)\"", "aud": "\"\(client)\"", "sub": "\"s-1\"", "exp": "\(now + 300)", "iat": "\(now)",
            "preferred_username": "\"ada\"",
        ]
        members["nonce"] = nonce.map { "\"\($0)\"" }
        members.merge(more) { $1 }
    }

    func with(_ name: String, _ json: String?) -> Claims {
        var other = self
        other.members[name] = json
        return other
    }

    var json: String { "{\(members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}" }
}

/// An issuer of one test.
struct Issuer {
    let trace: Trace

    init() async throws { trace = try await Trace() }

    var name: String { trace.url("/told") }
    func url(_ path: String) -> String { trace.url("/told/\(path)") }

    /// What the server answers at `path` from here on. Of several answers each comes once, and the last for ever.
    func tell(_ path: String, _ answers: Told...) async throws {
        let text = "[\(answers.map(\.json).joined(separator: ","))]"
        try await Raw.post(trace.url("/tell/\(path)"), text)
    }

    struct Told {
        var status = 200
        var fields: [String] = []
        var body: String

        init(_ body: String, status: Int = 200, fields: [String] = []) {
            (self.body, self.status, self.fields) = (body, status, fields)
        }

        var json: String {
            let object: [String: Any] = ["status": status, "fields": fields, "body": body]
            guard let data = try? JSONSerialization.data(withJSONObject: object) else { fatalError("no JSON") }
            return String(decoding: data, as: UTF8.self)
        }
    }

    /// The members of a document that names each endpoint here.
    var document: [String: Any] {
        [
            "issuer": name, "authorization_endpoint": url("authorize"), "token_endpoint": url("token"),
            "device_authorization_endpoint": url("device"), "jwks_uri": url("keys"), "userinfo_endpoint": url("user"),
            "revocation_endpoint": url("revoke"), "id_token_signing_alg_values_supported": ["ES256", "ES384", "EdDSA"],
        ]
    }

    func publish(_ changes: [String: Any] = [:], keys: String? = nil) async throws {
        let document = self.document.merging(changes) { $1 }.filter { !($0.value is NSNull) }
        let data = try JSONSerialization.data(withJSONObject: document)
        try await tell(".well-known/openid-configuration", Told(String(decoding: data, as: UTF8.self)))
        try await tell("keys", Told(try keys ?? keySet(SigningKey.p256.jwk())))
        try await tell("revoke", Told(""))
    }

    func service(
        scopes: [String] = ["openid"], _ browser: BrowserLogin = BrowserLogin(redirect: "http://127.0.0.1/cb"),
        origins: [String] = []
    ) -> OAuthService {
        OAuthService(
            .discovery(url(".well-known/openid-configuration")), clientID: "native", scopes: scopes, grant: .authorizationCode,
            issuer: name, origins: origins, browser: browser)
    }

    /// The paths that were asked since the last call, without those that the test told.
    func asked() throws -> [SeenRequest] { try trace.seen().filter { !$0.target.hasPrefix("/tell/") } }
}

/// Requests as bytes.
enum Raw {
    static func post(_ url: String, _ body: String) async throws {
        let address = try #require(EndpointURL(reading: url))
        let length = body.utf8.count
        let answer = try await send(
            "POST \(url.dropFirst(address.origin.count)) HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n\(body)",
            to: address.port)
        try #require(answer.hasPrefix("HTTP/1.1 204"), "\(answer)")
    }

    /// The whole answer to bytes that are sent to a port of this machine.
    static func send(_ text: String, to port: Int, host: String = "127.0.0.1") async throws -> String {
        let bytes = Array(text.utf8)
        return try await onOwnThread {
            exchange(bytes, over: try connect(to: port, host))
        }
    }

    /// The whole answer to bytes over an open connection, which this closes.
    static func send(_ text: String, over socket: Int32) async throws -> String {
        let bytes = Array(text.utf8)
        return try await onOwnThread { exchange(bytes, over: socket) }
    }

    private static func exchange(_ bytes: [UInt8], over socket: Int32) -> String {
        defer { close(socket) }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            sent += count
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(socket, &buffer, buffer.count)
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        return String(decoding: answer, as: UTF8.self)
    }

    struct NoConnection: Error {}

    static func connect(to port: Int, _ host: String) throws -> Int32 {
        let (socket, address) = try socket(host, port)
        let status = address.withUnsafeBytes {
            Glibc.connect(socket, $0.bindMemory(to: sockaddr.self).baseAddress, socklen_t($0.count))
        }
        guard status == 0 else {
            close(socket)
            throw NoConnection()
        }
        return socket
    }

    /// A socket that listens at a loopback address, and its port.
    static func listen(_ host: String = "127.0.0.1", port: Int = 0) throws -> (socket: Int32, port: Int) {
        let (socket, address) = try socket(host, port)
        let status = address.withUnsafeBytes {
            Glibc.bind(socket, $0.bindMemory(to: sockaddr.self).baseAddress, socklen_t($0.count))
        }
        try #require(status == 0 && Glibc.listen(socket, 64) == 0)
        var named = sockaddr_in6(), length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let found = withUnsafeMutableBytes(of: &named) {
            getsockname(socket, $0.bindMemory(to: sockaddr.self).baseAddress, &length)
        }
        try #require(found == 0)
        return (socket, Int(UInt16(bigEndian: named.sin6_port)))
    }

    private static func socket(_ host: String, _ port: Int) throws -> (Int32, [UInt8]) {
        let isSix = host.contains(":")
        let made = Glibc.socket(isSix ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(made >= 0)
        if isSix {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = in_port_t(port).bigEndian
            try #require(inet_pton(AF_INET6, host, &address.sin6_addr) == 1)
            return (made, withUnsafeBytes(of: address) { Array($0) })
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        try #require(inet_pton(AF_INET, host, &address.sin_addr) == 1)
        return (made, withUnsafeBytes(of: address) { Array($0) })
    }
}

/// A person in a test: does what the test says with the address, and pastes what the test gives.
final class Person: BrowserConversation {
    private let onShow: @Sendable (BrowserStep, Person) async throws -> Void
    private let steps = Locked<[BrowserStep]>([])
    private let texts: AsyncStream<String>
    private let paste: AsyncStream<String>.Continuation
    private let pastes: Bool

    /// - Parameter pastes: Whether the person pastes. Otherwise nothing can be pasted.
    init(pastes: Bool = false, _ onShow: @escaping @Sendable (BrowserStep, Person) async throws -> Void) {
        (self.onShow, self.pastes) = (onShow, pastes)
        (texts, paste) = AsyncStream<String>.makeStream()
    }

    var shown: [BrowserStep] { steps.value }

    func paste(_ text: String) { paste.yield(text) }

    func show(_ step: BrowserStep) async throws(OnlineRefusal) {
        steps.change { $0.append(step) }
        do { try await onShow(step, self) } catch { throw .failed(.helper) }
    }

    func hasFinished() { finished.change { $0 = true } }

    /// Whether the person has gone away. Set by a test.
    let gone = Locked(false)
    var isGone: Bool { gone.value }
    let finished = Locked(false)

    func pasted() async throws(OnlineRefusal) -> SecretBytes? {
        guard pastes else { return nil }
        for await text in texts { return bytes(text) }
        throw .failed(.cancelled)
    }
}

/// A value behind a lock.
final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var held: Value

    init(_ value: Value) { held = value }

    var value: Value { lock.withLock { held } }
    func change(_ body: (inout Value) -> Void) { lock.withLock { body(&held) } }
}

/// The parameters of an address that was shown.
struct Opened {
    let address: String
    private let parameters: QueryParameters

    init(_ step: BrowserStep) throws {
        guard case .open(let address) = step else { throw NoSession() }
        self.address = address
        parameters = try #require(EndpointURL(reading: address)?.query.flatMap { QueryParameters($0) })
    }

    subscript(_ name: String) -> String { parameters.value(name).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    var names: Set<String> { parameters.names }
    var port: Int { EndpointURL(reading: self["redirect_uri"])?.port ?? 0 }
    var host: String { String(self["redirect_uri"].dropFirst("http://".count).prefix { $0 != "/" }) }

    /// What a browser sends to the redirect address.
    func request(_ query: String, path: String = "/cb", method: String = "GET", host: String? = nil) -> String {
        "\(method) \(path)\(query.isEmpty ? "" : "?")\(query) HTTP/1.1\r\nHost: \(host ?? self.host)\r\n\r\n"
    }
}
