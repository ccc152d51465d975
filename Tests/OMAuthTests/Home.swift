import Foundation
import OMSecrets
import OMStorage
import OMSystem
import Synchronization
import TestSupport

@testable import OMAuth

/// One test's state of a user, deleted with the test.
final class Home: Sendable {
    let folder: TestFolder
    var path: String { folder.path }

    init() throws { folder = try TestFolder() }

    var backend: FileLoginBackend { FileLoginBackend(state: "\(path)/state", device: "\(path)/device") }

    func authenticator(
        lockWait: Int = .max, clock: @escaping @Sendable () -> ClockReading = { ClockReading.now() },
        onCheck: @escaping @Sendable (LoginRow) -> Void = { _ in }
    ) -> Authenticator {
        authenticator(lockWait: lockWait, clock: clock) { if case .checking(let row) = $0 { onCheck(row) } }
    }

    func authenticator(
        lockWait: Int = .max, clock: @escaping @Sendable () -> ClockReading = { ClockReading.now() },
        reached: @escaping @Sendable (AttemptPoint) -> Void
    ) -> Authenticator {
        Authenticator(backend, .floor, lockWait: lockWait, clock: clock, reached: reached)
    }

    func enroll(_ profile: Profile, user: UserName = ada, password: String = "right") throws {
        _ = try authenticator().enroll(user, profile, password: Password(password))
    }

    /// Nil means verified.
    func check(_ password: String, _ profile: Profile, user: UserName = ada) -> AuthError? {
        refusal { () throws(AuthError) in
            _ = try authenticator().check(user, profile, password: Password(password))
        }
    }

    // MARK: - Behind the library's back

    func device() throws -> DeviceKey {
        guard let key = try DeviceFolder(backend.device).load() else { throw Missing() }
        return key
    }

    func id(_ profile: Profile, _ user: UserName = ada) throws -> LoginID {
        try LoginKey(user, profile).id(under: device())
    }

    func markPath(_ profile: Profile, _ user: UserName = ada) throws -> String {
        "\(backend.device)/login-\(Hex.encode(try id(profile, user).bytes)).mark"
    }

    func database() throws -> Database { try Database.open(backend.ledger, Ledger.schema) }

    func database(with statements: [String]) throws -> Database {
        try Database.open(
            backend.ledger,
            Schema(applicationID: Ledger.schema.applicationID, version: Ledger.schema.version, statements: statements))
    }

    func rowBytes(_ profile: Profile, _ user: UserName = ada) throws -> [UInt8] {
        let database = try database()
        var statement = try database.prepare("SELECT row FROM logins WHERE id = ?1")
        try statement.bind(1, id(profile, user).bytes)
        guard try statement.step() else { throw Missing() }
        return statement.bytes(0)
    }

    func setRowBytes(_ bytes: [UInt8], _ profile: Profile, _ user: UserName = ada) throws {
        let database = try database()
        var statement = try database.prepare("UPDATE logins SET row = ?2 WHERE id = ?1")
        try statement.bind(1, id(profile, user).bytes)
        try statement.bind(2, bytes)
        _ = try statement.step()
    }

    func row(_ profile: Profile, _ user: UserName = ada) throws -> LoginRow {
        try LoginRow(rowBytes(profile, user), under: id(profile, user), device())
    }

    func copy(_ from: String, _ to: String) throws {
        try? FileManager.default.removeItem(atPath: to)
        try FileManager.default.copyItem(atPath: from, toPath: to)
    }

    func write(_ bytes: [UInt8], to path: String) throws {
        guard
            FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
        else { throw Missing() }
    }

    /// The ledgers that could not be read and were set aside.
    func asideLedgers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: backend.state).sorted()
            .filter { $0.hasPrefix("logins.db.damaged-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
            .map { "\(backend.state)/\($0)" }
    }

    /// The home's files that contain `needle`.
    func files(holding needle: [UInt8]) throws -> [String] {
        guard let walk = FileManager.default.enumerator(atPath: path) else { throw Missing() }
        return walk.compactMap { $0 as? String }.filter { name in
            guard let data = FileManager.default.contents(atPath: "\(path)/\(name)") else { return false }
            return data.range(of: Data(needle)) != nil
        }
    }
}

struct Missing: Error {}

let ada = known("ada")

func known(_ name: String) -> UserName {
    do { return try UserName(name) } catch { fatalError("not a user name: \(error)") }
}

func policy(_ attempts: Int = 3, _ consequence: OnAttemptsExceeded = .wipe, maxAge: Int? = nil) throws -> Profile {
    var values: [String: ProfileValue] = [
        "OfflineAuthAllowed": .bool(true), "MaxLoginAttempts": .number(String(attempts)),
        "OnAttemptsExceeded": .text(consequence.rawValue),
    ]
    if let maxAge { values["OfflineCredentialMaxAge"] = .number(String(maxAge)) }
    return try Profile(ProfileName("work"), values: values)
}

/// Runs the blocking form of a call in an `async` test.
func blocking<R: ~Copyable>(_ body: () throws(AuthError) -> R) throws(AuthError) -> R { try body() }

func refusal(_ body: () throws(AuthError) -> Void) -> AuthError? {
    do { try body() } catch { return error }
    return nil
}

extension Password {
    init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    init(bytes: [UInt8]) {
        do { try self.init(SecretBytes(copying: bytes)) } catch { fatalError("not a password: \(error)") }
    }
}

/// A clock that a test sets, and that can call the test when it is read.
final class TestClock: Sendable {
    private struct State { var wall: Int64 = 1_800_000_000, boot: Int64 = 1_000, bootNumber: UInt8 = 7 }
    private let state = Mutex(State())

    func advance(wall: Int64 = 0, boot: Int64 = 0) {
        state.withLock {
            $0.wall += wall; $0.boot += boot
        }
    }

    func reboot() {
        state.withLock { ($0.boot, $0.bootNumber) = (0, $0.bootNumber + 1) }
    }

    func read() -> ClockReading {
        let now = state.withLock { $0 }
        return ClockReading(wall: now.wall, sinceBoot: now.boot, bootID: [UInt8](repeating: now.bootNumber, count: 16))
    }
}
