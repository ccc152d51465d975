#if Server
// A server without its HTTP library, with a clock of its own.

import OMCrypto
import OMJSON
import OMSecrets
import OMServer
import OMServerStore
import Synchronization
import TestSupport
import Testing

/// The services of a server over a new store.
final class TestService: Sendable {
    let folder: TestFolder
    let store: InterruptedStore
    let passwords: PasswordCheck
    let routes: ServerRoutes
    private let clock: ClockHolder

    static let address = "https://vault.example.test"

    init(_ store: (any ServerStore)? = nil) throws {
        folder = try TestFolder()
        let location = StoreLocation(folder.path + "/store.db")
        if store == nil { try location.create(ServerTables.schema) }
        self.store = InterruptedStore(try store ?? location.open(ServerTables.schema, connections: 8))
        // 8 MiB and one pass: a test makes many hashes.
        passwords = try PasswordCheck(
            .argon2(.argon2id, .init(memoryKiB: 8 << 10, passes: 1, lanes: 1)), parallel: 2, waiting: 64)
        let holder = ClockHolder()
        let clock = ServerClock { holder.time.withLock { $0 } }
        self.clock = holder
        routes = ServerRoutes(
            [
                HealthService(self.store),
                GrantService(self.store, passwords: passwords, attempts: AttemptLimit(), issuer: Self.address, clock: clock),
                PolicyService(self.store, issuer: Self.address),
                SDKService(self.store, passwords: passwords, attempts: AttemptLimit(most: 1000), clock: clock),
            ], note: { Issue.record("the server noted \($0)") })
    }

    private final class ClockHolder: Sendable {
        let time = Mutex<Int64>(1_800_000_000)
    }

    var now: Int64 { clock.time.withLock { $0 } }

    func pass(_ seconds: Int64) { clock.time.withLock { $0 += seconds } }

    func add(_ name: String, _ password: String) throws {
        let hash = try passwords.hash(Password(SecretBytes(copying: Array(password.utf8).span)))
        let account = try #require(AccountName(name)), now = now
        #expect(try store.transaction(.write) { try AccountTable.add(account, hash: hash, now: now, $0) })
    }

    /// What `user passwd --end-grants` does.
    func changePassword(of name: String, to password: String) throws {
        let hash = try passwords.hash(Password(SecretBytes(copying: Array(password.utf8).span)))
        let account = try #require(AccountName(name))
        #expect(
            try store.transaction(.write) { transaction in
                try AccountTable.endLogins(of: account, transaction)
                return try AccountTable.setHash(hash, of: account, transaction)
            })
    }

    func setBlocked(_ isBlocked: Bool, _ name: String) throws {
        let account = try #require(AccountName(name))
        #expect(try store.transaction(.write) { try AccountTable.setBlocked(isBlocked, account, $0) })
    }

    func post(_ path: [String], _ form: [(String, String)], _ headers: [String: String] = [:]) -> ServerResponse {
        let body = form.map { "\($0.0)=\(Self.encoded($0.1))" }.joined(separator: "&")
        return routes.answer(
            ServerRequest(
                .post, path: path,
                headers: headers.merging(["content-type": "application/x-www-form-urlencoded"]) { one, _ in one },
                body: Array(body.utf8), client: "192.0.2.1"))
    }

    func get(_ path: [String], _ headers: [String: String] = [:]) -> ServerResponse {
        routes.answer(ServerRequest(.get, path: path, headers: headers, client: "192.0.2.1"))
    }

    /// A login with a password.
    func logIn(_ name: String, _ password: String, scope: String? = "sync") -> ServerResponse {
        post(
            ["oauth2", "token"],
            [
                ("grant_type", "password"), ("username", name), ("password", password), ("client_id", "omvault"),
                ("device", "laptop"),
            ]
                + (scope.map { [("scope", $0)] } ?? []))
    }

    func refresh(_ token: String) -> ServerResponse {
        post(["oauth2", "token"], [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", "omvault")])
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: String(Unicode.Scalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}

extension ServerResponse {
    /// A member of the JSON body. Nil if there is none.
    func member(_ name: String) -> JSON? { (try? JSON(parsing: body.span))?.members?[name] }
    func text(_ name: String) throws -> String { try #require(member(name)?.text) }
}
#endif
