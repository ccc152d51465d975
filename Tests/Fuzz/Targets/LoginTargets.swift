// The stored data of logins. The target seals the rows itself: an attacker with the device key, or with a hole in a MAC, must
// not find another hole behind it. A row that is read must be written again as the same bytes.

import OMSecrets
import OMStorage
import OMSystem

@testable import OMAuth

enum LoginTargets {
    static let all = [
        // A profile's number, a version, and a row after its two ids.
        FuzzTarget(name: "login-row", seeds: { LoginTemplate.rows }) { row($0) },
        // An even byte and remembered data from its version on, without its id; or an odd byte and a password box's content.
        FuzzTarget(name: "remembered-row", seeds: { LoginTemplate.remembered }) { bytes in
            guard let first = bytes.first else { return }
            let rest = Array(bytes.dropFirst())
            if first & 1 == 0 { remembered(rest) } else { rememberedPassword(rest) }
        },
        // A policy that set-up saw, from its version on, without its id.
        FuzzTarget(name: "seen-policy", seeds: { LoginTemplate.policies }) { bytes in
            guard let version = bytes.first else { return }
            let id = LoginTemplate.id
            let device = LoginTemplate.device.duplicate()
            let whole = RowSeal.sealed([version] + id.bytes + bytes.dropFirst(), as: .policyMAC, at: id, under: device)
            guard let seen = try? StoredServerPolicy(whole, under: id, device) else { return }
            precondition(seen.encode(under: device) == whole, "a policy has two spellings")
        },
        // Whether it has endpoints or a policy, and a row with a time from its version on, without its id.
        FuzzTarget(name: "given-row", seeds: { LoginTemplate.given }) { bytes in
            guard bytes.count >= 2 else { return }
            let id = LoginTemplate.id, kind: GivenRow.Kind = bytes[0] & 1 == 0 ? .policy : .endpoints
            let device = LoginTemplate.device.duplicate()
            let whole = RowSeal.sealed([bytes[1]] + id.bytes + bytes.dropFirst(2), as: .givenMAC, at: id, under: device)
            guard let row = try? GivenRow(whole, kind, under: id, device) else { return }
            precondition(row.encode(under: device) == whole, "a row has two spellings")
            precondition(row.age(at: .max) ?? 0 >= 0 && row.age(at: .min) == nil, "an age is negative")
        },
        // An entry without its MAC.
        FuzzTarget(name: "login-log-entry", seeds: { LoginTemplate.entries }) { bytes in
            let key = LoginTemplate.device.key.derive(Context(.loginLogMAC), as: Authenticating.self)
            let whole = bytes + MAC.tag(of: bytes, using: key, context: Context(.loginLogMAC))
            guard let entry = try? LoginLogEntry(whole, key) else { return }
            precondition(entry.encoded == whole, "an entry has two spellings")
        },
        // One value of a ledger, or one file of marks, in an otherwise whole state on its own device. Place, row, kind of
        // value (plus 128 to use the logins after it), bytes.
        FuzzTarget(name: "ledger-rows", seeds: { LoginTemplate.ledgerSeeds }) { bytes in
            guard bytes.count >= 3, let template = LoginTemplate.shared else { return }
            ScratchFolder.run { folder in
                let authenticator = template.copy(to: folder)
                template.replace(folder, bytes)
                if bytes[2] < 128 { look(authenticator) } else { use(authenticator) }
            }
        },
    ]

    // MARK: - Rows

    private static func row(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return }
        let id = LoginTemplate.id
        let device = LoginTemplate.device.duplicate()
        let body = [bytes[1]] + id.bytes + device.fingerprint() + bytes.dropFirst(2)
        let key = device.key.derive(Context(.loginRowMAC), as: Authenticating.self)
        let whole = body + MAC.tag(of: body, using: key, context: Context(.loginRowMAC, .bytes(id.bytes)))
        let isNamed = LoginRow(unauthenticated: whole) != nil
        guard let row = try? LoginRow(whole, under: id, device) else {
            precondition(!isNamed, "a row names a user but is refused")
            return
        }
        precondition(
            bytes[1] != LoginRow.version || row.encode(under: device) == whole, "a row has two spellings")
        let profile = LoginTemplate.profiles[Int(bytes[0]) % LoginTemplate.profiles.count]
        let memory = row.time
        for (wall, sinceBoot) in [(0, 0), (memory.earliest, memory.sinceBoot), (Int64.max, Int64.max), (Int64.min, 0)] {
            for bootID in [memory.bootID, [UInt8](repeating: 5, count: 16)] {
                check(row, LoginPolicy(profile, row.server), ClockReading(wall: wall, sinceBoot: sinceBoot, bootID: bootID))
            }
        }
    }

    private static func check(_ row: LoginRow, _ policy: LoginPolicy, _ clock: ClockReading) {
        if case .open = row.permission(under: policy, at: clock) {
            precondition(row.attemptsLeft(under: policy) >= 0 && row.charged <= policy.tolerated, "one check too many")
        }
        let device = LoginTemplate.device.duplicate()
        _ = row.openNewSlot(with: LoginTemplate.stretched, on: device, under: policy, at: clock)
        var later = row
        later.time.update(clock)
        precondition(later.time.earliest >= row.time.earliest, "time went back")
        let again = try? LoginRow(later.encode(under: device), under: row.id, device)
        precondition(again == later, "a row that was written is none")
    }

    // MARK: - Remembered data

    private static func remembered(_ bytes: [UInt8]) {
        guard let version = bytes.first else { return }
        let id = LoginTemplate.id
        let device = LoginTemplate.device.duplicate()
        let body = [version] + id.bytes + bytes.dropFirst()
        let key = device.key.derive(Context(.rememberMAC), as: Authenticating.self)
        let whole = body + MAC.tag(of: body, using: key, context: Context(.rememberMAC, .bytes(id.bytes)))
        guard let row = try? RememberedRow(whole, under: id, device) else { return }
        precondition(row.encode(under: device) == whole, "a row has two spellings")
        _ = row.openPassword(with: LoginTemplate.remembering)
    }

    private static func rememberedPassword(_ bytes: [UInt8]) {
        let (id, user) = (LoginTemplate.id, LoginTemplate.key.user)
        let sealing = LoginTemplate.remembering.derive(Context(.rememberPassword), as: Sealing.self)
        let context = Context(.rememberPassword, .bytes(id.bytes), .bytes(user.utf8), .bytes([]))
        var row = RememberedRow(id, LoginTemplate.key.profile)
        row.user = user
        row.password = RememberedRow.SealedPassword(
            keyID: RememberedRow.keyID(LoginTemplate.remembering),
            box: AEAD.seal(SecretBytes(copying: bytes), using: sealing, context: context))
        _ = row.openPassword(with: LoginTemplate.remembering)
    }

    // MARK: - A ledger

    /// Everything that charges nothing.
    private static func look(_ authenticator: Authenticator) {
        let profile = LoginTemplate.profile
        _ = try? authenticator.status([profile])
        _ = try? authenticator.log()
        _ = try? authenticator.remembered(profile)
        guard let key = try? authenticator.deviceRememberingKey() else { return }
        _ = try? authenticator.rememberedPassword(profile, key: key)
        _ = try? authenticator.takeAutoLogin(profile, key: key)
    }

    /// Attempts, and the administrator's removal. A wrong password must fail with any content of the rows.
    private static func use(_ authenticator: Authenticator) {
        precondition(!isGranted("wrong", authenticator), "a wrong password was granted")
        _ = isGranted("right", authenticator)
        look(authenticator)
        _ = try? authenticator.remove(LoginTemplate.key.user, LoginTemplate.profile.name)
    }

    private static func isGranted(_ password: String, _ authenticator: Authenticator) -> Bool {
        guard let password = try? Password(SecretBytes(copying: Array(password.utf8))) else { return false }
        return (try? authenticator.check(LoginTemplate.key.user, LoginTemplate.profile, password: password)) != nil
    }
}
