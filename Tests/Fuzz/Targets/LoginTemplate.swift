// A ledger with a login in use, a wiped login, remembered data and a log, and the keys that seal its rows. They are the
// same in every run, so that every run can read the seeds.

import Glibc
import OMOnlineModel
import OMSecrets
import OMStorage
import OMSystem

@testable import OMAuth

/// A ledger and the device that made it.
struct LoginTemplate: Sendable {
    static let shared = LoginTemplate()

    private let files: [(name: String, bytes: [UInt8])]

    // MARK: - Keys and names

    static let device = DeviceKey(fixed(7))
    static let stretched: Key<Unlocking> = fixed(8)
    static let remembering: Key<Remembering> = fixed(9)
    static let key = made { () throws(AuthError) in
        LoginKey(profile: try ProfileName("p"), user: try UserName("ada"))
    }
    static let id = key.id(under: device)

    /// The most tolerant profile, and the strictest.
    static let profiles = [
        profile,
        profile([
            "MaxLoginAttempts": "1", "LimitMode": LimitMode.strict.rawValue, "AttemptDelay": "3600",
            "ClockRollback": ClockRollback.deny.rawValue, "OfflineCredentialMaxAge": "60",
            "OnAttemptsExceeded": OnAttemptsExceeded.lockout.rawValue,
        ]),
        profile(["OfflineAuthAllowed": "false"]),
    ]
    static let profile = profile(["MaxLoginAttempts": "3", "AutoLoginAllowed": "true", "AutoLoginDefault": "true"])

    private static func profile(_ values: [String: String]) -> Profile {
        let all = ["OfflineAuthAllowed": "true"].merging(values) { _, given in given }
        return made { () throws(AuthError) in try Profile(key.profile, values: all.mapValues { .text($0) }) }
    }

    private static func fixed<Use>(_ byte: UInt8) -> Key<Use> {
        do { return try Key(readFrom: SecretBytes(copying: [UInt8](repeating: byte, count: Key<Use>.count))) } catch {
            preconditionFailure("bytes of a key")
        }
    }

    private static func made<Value>(_ make: () throws(AuthError) -> Value) -> Value {
        do { return try make() } catch { preconditionFailure("a part of the template: \(error)") }
    }

    // MARK: - The files

    private init?() {
        let folder = ScratchFolder.path + "-logins"
        defer { ScratchFolder.remove(folder) }
        guard mkdir(folder, 0o700) == 0 else { return nil }
        do throws(AuthError) { try Self.make(Self.authenticator(folder)) } catch { return nil }
        files = ["state", "device"].flatMap { part in
            ScratchFolder.names("\(folder)/\(part)").map { ("\(part)/\($0)", ScratchFolder.read("\(folder)/\(part)/\($0)")) }
        }
    }

    private static func make(_ authenticator: Authenticator) throws(AuthError) {
        func password(_ text: String) throws(AuthError) -> Password {
            do { return try Password(SecretBytes(copying: Array(text.utf8))) } catch { throw .outOfMemory }
        }
        let gone = try UserName("gone")
        for user in [key.user, gone] { _ = try authenticator.enroll(user, profile, password: password("right")) }
        for _ in 0...profile.maxLoginAttempts {
            do throws(AuthError) { _ = try authenticator.check(gone, profile, password: password("wrong")) } catch {}
        }
        guard let store = try authenticator.openIfPresent(), let remembering = try authenticator.deviceRememberingKey() else {
            throw .noCredential
        }
        let typed = try password("right")
        _ = try store.changeRemembered(Authenticator.rememberedID(profile, store.device), profile.name) { row in
            row.setPassword(typed, of: key.user, .none, key: remembering.key)
            row.isArmed = true
        }
    }

    private static func authenticator(_ folder: String) -> Authenticator {
        Authenticator(stateFolder: folder + "/state", deviceFolder: folder + "/device", parameters: .floor)
    }

    /// A copy, and its user.
    func copy(to folder: String) -> Authenticator {
        for part in ["state", "device"] { _ = mkdir("\(folder)/\(part)", 0o700) }
        for (name, bytes) in files { ScratchFolder.write(bytes, to: "\(folder)/\(name)") }
        return Self.authenticator(folder)
    }

    // MARK: - Replacing

    private static let columns: [(table: String, column: String)] = [
        ("logins", "row"), ("logins", "id"), ("remembered", "row"), ("remembered", "id"), ("log", "entry"), ("log", "sequence"),
    ]

    /// Puts bytes in the place that the first bytes name.
    func replace(_ folder: String, _ bytes: [UInt8]) {
        let marks = files.map(\.name).filter { $0.hasSuffix(".mark") }
        let place = Int(bytes[0]) % (Self.columns.count + marks.count)
        guard place < Self.columns.count else {
            let path = "\(folder)/\(marks[place - Self.columns.count])"
            unlink(path)
            return ScratchFolder.write(Array(bytes.dropFirst(3)), to: path)
        }
        let (table, column) = Self.columns[place]
        guard let database = try? Database.open(folder + "/state/logins.db", Ledger.schema) else { return }
        RowChange(table: table, column: column, row: bytes[1], kind: bytes[2] & 127, bytes: Array(bytes.dropFirst(3)))
            .make(in: database)
    }

    // MARK: - Seeds

    static var ledgerSeeds: [[UInt8]] {
        guard let marks = shared?.files.filter({ $0.name.hasSuffix(".mark") }).map(\.bytes) else { return [] }
        return (0..<columns.count).flatMap { place in
            (0..<5).flatMap { kind in [[UInt8(place), 0, kind, 1], [UInt8(place), 1, kind | 128, 1]] }
        } + marks.enumerated().map { [UInt8(columns.count + $0), 0, 128] + $1 }
    }

    /// In the form that `login-row` reads.
    static var rows: [[UInt8]] {
        let policy = LoginPolicy(profile, nil)
        let clock = ClockReading(wall: 1_800_000_000, sinceBoot: 1_000, bootID: [UInt8](repeating: 7, count: 16))
        let server = ServerPolicy(
            epoch: 7, offlineAuthAllowed: true, maxLoginAttempts: 5, cryptoScheme: .sha256, locationUpdateEnabled: false,
            locationUpdateDistanceFilter: 100)
        let slot = LoginSlot(SlotKeyDerivation(.saltedSHA512, .floor), stretched, of: id, on: device)
        let states: [LoginRow.StoredVerifier] = [.live(slot), .wipePending, .wiped, .clearPending, .cleared]
        let all = states.flatMap { state in
            [nil, server].map { server in
                var row = LoginRow(
                    id, of: key, state, on: device, under: policy, at: LastSeenTime(starting: clock), online: server != nil,
                    server: server)
                row.generation = 1
                row.charged = 1
                return Array(row.encode(under: device).dropLast(MAC.count))
            }
        }
        // The parts that version 1 lacked: the numbers before the names, and the domain and the server after them.
        var first = all[0]
        first.removeSubrange(147..<150)
        first.removeSubrange(127..<141)
        first[0] = 1
        return (all + [first]).enumerated().map { [UInt8($0 % profiles.count), $1[0]] + $1[49...] }
    }

    /// In the form that `remembered-row` reads.
    static var remembered: [[UInt8]] {
        var row = RememberedRow(id, key.profile)
        var rows = [row]
        row.preferences.autoLogin = true
        guard let password = try? Password(SecretBytes(copying: Array("right".utf8))) else { return [] }
        row.setPassword(password, of: key.user, .none, key: remembering)
        row.isArmed = true
        rows.append(row)
        row.deletePassword()
        rows.append(row)
        let stored = rows.map { row in
            let bytes = row.encode(under: device).dropLast(MAC.count)
            return [0, bytes[0]] + bytes[(1 + LoginID.count)...]
        }
        return stored + [[1, 0, 0, 0, 5] + Array("right".utf8) + [UInt8](repeating: 0, count: 55)]
    }

    /// In the form that `seen-policy` reads.
    static var policies: [[UInt8]] {
        let policies = [
            ServerPolicy(epoch: 7, offlineAuthAllowed: true, maxLoginAttempts: 3, cryptoScheme: .saltedSHA256),
            ServerPolicy(epoch: 0),
        ]
        return policies.map { policy in
            let bytes = StoredServerPolicy(id: id, policy: policy).encode(under: device).dropLast(MAC.count)
            return [bytes[0]] + bytes[(1 + LoginID.count)...]
        }
    }

    /// In the form that `given-row` reads.
    static var given: [[UInt8]] {
        let endpoints = [
            ServerEndpoint(.token, "https://a.example/token"), ServerEndpoint(.deletion, "https://a.example:14100/d?e"),
        ]
        let rows: [(UInt8, GivenRow.Content)] = [
            (0, .policy(ServerPolicy(epoch: 7, maxLoginAttempts: 3))), (1, .endpoints(endpoints)), (1, .endpoints([])),
        ]
        return rows.map { kind, content in
            let bytes = GivenRow(id, content, at: 1_800_000_000).encode(under: device).dropLast(MAC.count)
            return [kind, bytes[0]] + bytes[(1 + LoginID.count)...]
        }
    }

    /// In the form that `login-log-entry` reads: one entry of each kind, and one with a count.
    static var entries: [[UInt8]] {
        let log = device.key.derive(Context(.loginLogMAC), as: Authenticating.self)
        let beginning = HighWaterMark(generation: 3, digest: [UInt8](repeating: 1, count: MAC.count))
        let events: [LoginEvent] = [
            .grantedOffline, .grantedOnline(isCached: true), .wrongPassword(attemptsLeft: 2), .wiped, .lockedOut,
            .wipedByPolicy, .refused(.expired), .refusedOnline(.unreachable), .compared(isCached: false),
            .enrolled(isReplaced: true), .removed, .cleared(.logout), .policyTaken(epoch: 7), .policyRefused(epoch: 6),
            .clockBehind(seconds: 200), .loggedOut(isCleared: true), .policyMissing(.failed), .ledgerReplaced,
            .strayRows(first: 5), .unlocked(attempts: 3),
        ]
        let entries = events.map { LoginLogEntry(after: beginning, time: 1_800_000_000, id, $0, log) }
        let next = LoginLogEntry(after: beginning, time: 1_800_000_001, id, .refused(.expired), log)
        let counted = LoginLogEntry(inPlaceOf: next, after: beginning, countingUp: next, log)
        return (entries + [counted]).map { $0.encoded.dropLast(MAC.count) }
    }
}
