// Sessions that the ledger remembers: their life, their marks and their end. docs/formats/login-format.md, "Remembered sessions".

import OMOnlineModel
import OMSecrets
import OMStorage
import OMSystem
import Testing

@testable import OMAuth

@Suite("Sessions that are remembered") struct RememberedSessionTests {
    private let place = MemoryLoginBackend()
    private let clock = TestClock()
    private var logins: Authenticator { place.authenticator(clock: clock) }
    private let key = RememberingKey(.random())

    private func profile(_ more: [String: ProfileValue] = [:]) throws -> Profile {
        let values: [String: ProfileValue] = [
            "AuthServerType": .text("OAuthAuthentication"), "OAuthAuthZGrantType": .text("OAuthResourceOwner"),
            "OAuthTokenEndpoint": .text("https://login.example/token"), "OAuthClientID": .text("robot"),
            "RememberTokens": .bool(true),
        ]
        return try Profile(ProfileName("work"), values: values.merging(more) { $1 })
    }

    private func parts(_ number: Int) -> TokenParts {
        TokenParts(
            session: SecretBytes(copying: Array("session \(number)".utf8)),
            access: AccessToken(
                SecretBytes(copying: Array("token \(number)".utf8)), scopes: ScopeSet(granted: ["a"]),
                idToken: SecretBytes(copying: Array("id token".utf8))))
    }

    /// Logs in, and remembers session 1 with an access token of this life.
    private func remember(_ profile: Profile, _ user: UserName = ada, life: UInt32? = 600) throws -> SessionRowKey {
        let first = parts(1)
        let answer = ProviderAnswer.accepted(
            policy: nil, serverTime: nil, session: first.session.duplicate(), access: first.access.duplicate(), lifetime: life)
        guard let accepted = AcceptedAnswer(answer, sent: clock.read()) else { throw Missing() }
        let request = LoginRequest(user, profile, domain: .none, mode: .online)
        let receipt = LoginReceipt(online: accepted, notCached: .offlineNotAllowed, ReceiptNotes(), request, clock.read())
        guard let row = try logins.rememberSession(receipt, profile, key: key) else { throw Missing() }
        return row
    }

    /// Writes session `number` as the next state.
    private func renew(_ profile: Profile, _ number: Int, _ row: borrowing SessionRowKey, _ user: UserName = ada)
        throws(AuthError)
        -> SessionRowKey
    {
        let renewed = try logins.renewSession(LoginKey(user, profile), parts(number), accessLeft: 600, row)
        return SessionRowKey(row.bytes.duplicate(), generation: renewed.generation)
    }

    private func found(_ profile: Profile, _ key: RememberingKey?, _ user: UserName = ada) throws -> String {
        switch try logins.rememberedSession(LoginKey(user, profile), profile, key: key) {
        case .none: return "none"
        case .locked: return "locked"
        case .otherKey: return "other key"
        case .live(let receipt, _, let left, _):
            func text(_ bytes: borrowing SecretBytes) -> String {
                bytes.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
            }
            let life = receipt.sessionExpires.map { "\($0 - clock.read().sinceBoot)" } ?? "-"
            let held: String
            switch receipt.session {
            case .none: return "no session"
            case .some(let session): held = text(session)
            }
            switch receipt.access {
            case .none: return "no token"
            case .some(let access):
                return "\(held), \(text(access.value)) \(text(access.idToken)) \(life) \(left.map { "\($0)" } ?? "-")"
            }
        }
    }

    private func id(_ profile: Profile, _ user: UserName = ada) throws -> LoginID {
        guard let device = try place.loadDevice() else { throw Missing() }
        return KeptTokenRow.sessionID(LoginKey(user, profile), device)
    }

    @Test("it outlives another process and a reboot, at an open level only, and for its profile as it was")
    func kept() throws {
        let profile = try profile()
        #expect(try found(profile, key) == "none")
        let row = try remember(profile)
        #expect(try found(profile, key) == "session 1, token 1 id token 600 -")
        clock.advance(wall: 100, boot: 100)
        #expect(try renew(profile, 2, row).generation == 2)
        clock.advance(wall: 100, boot: 100)
        clock.reboot()
        #expect(try found(profile, key) == "session 2, token 2 id token 500 -")
        #expect(try found(profile, nil) == "locked" && found(profile, RememberingKey(.random())) == "other key")
        // Its access token ends, and it does not.
        clock.advance(wall: 5_000, boot: 5_000)
        #expect(try found(profile, key) == "session 2, token 2 id token 0 -")
        #expect(try found(profile, key, UserName("bob")) == "none")
        #expect(try logins.rememberedSessions(profile).map(\.user) == [ada])
        let elsewhere = try self.profile(["OAuthTokenEndpoint": .text("https://other.example/token")])
        #expect(try found(elsewhere, key) == "none" && logins.rememberedSessions(elsewhere).isEmpty)
        #expect(try found(self.profile(["TokenRelease": .text("allow")]), key) == "none")
        // That deleted it.
        #expect(try found(profile, key) == "none" && place.disk.remembered.isEmpty)
    }

    @Test("a login begins above every earlier state, and a token without an end stays without one")
    func again() throws {
        let profile = try profile()
        let first = try remember(profile)
        let second = try renew(profile, 2, first)
        #expect(try remember(profile, life: nil).generation == 3)
        #expect(try found(profile, key) == "session 1, token 1 id token - -")
        // The agent of the login before writes nothing any more.
        #expect(throws: AuthError.noCredential) { try renew(profile, 3, second).generation }
        #expect(try found(profile, key) == "session 1, token 1 id token - -")
    }

    @Test("an older ledger that is put back gives no session: the row is older than its mark")
    func putBack() throws {
        let profile = try profile()
        let first = try remember(profile)
        let older = place.disk.remembered
        let second = try renew(profile, 2, first)
        let newer = place.disk.remembered
        place.disk.remembered = older
        #expect(try found(profile, key) == "none" && place.disk.remembered.isEmpty)
        // The agent that has the newest tokens finds that out too, and no state comes back.
        #expect(throws: AuthError.noCredential) { try renew(profile, 3, second).generation }
        for rows in [older, newer] {
            place.disk.remembered = rows
            #expect(throws: AuthError.noCredential) { try renew(profile, 3, second).generation }
            #expect(try found(profile, key) == "none")
        }
        // After a logout too, and without the mark.
        _ = try remember(profile)
        let live = place.disk.remembered
        try logins.end(ada, profile, after: .logout)
        #expect(place.disk.remembered.isEmpty)
        place.disk.remembered = live
        #expect(try found(profile, key) == "none")
        place.disk.remembered = live
        place.disk.marks[try id(profile)] = nil
        #expect(try found(profile, key) == "none")
        // The next login is not held up by that.
        _ = try remember(profile)
        #expect(try found(profile, key).hasPrefix("session 1"))
    }

    @Test("a power cut at each write leaves the old session or the new one, and after the answer the new one")
    func powerCuts() throws {
        let profile = try profile()
        for power in 0...4 {
            for isEnd in [false, true] {
                let row = try remember(profile)
                place.power = power
                var isAnswered = false
                if isEnd {
                    isAnswered = (try? logins.forgetSession(LoginKey(ada, profile), generation: row.generation)) != nil
                } else {
                    isAnswered = (try? renew(profile, 2, row).generation) != nil
                }
                let isCut = place.power.map { $0 <= 0 } ?? false
                place.power = nil
                let now = try found(profile, key)
                let (old, new) = ("session 1, token 1 id token 600 -", isEnd ? "none" : "session 2, token 2 id token 600 -")
                #expect(now == new || !isAnswered && now == old, "power \(power), \(isEnd): \(now)")
                #expect(isAnswered || isCut)
                // A state that a mark was not written for is as good as any.
                if now == new, !isEnd {
                    let next = SessionRowKey(row.bytes.duplicate(), generation: row.generation + 1)
                    #expect(try renew(profile, 3, next).generation == row.generation + 2)
                    #expect(try found(profile, key).hasPrefix("session 3"))
                }
            }
        }
    }

    @Test("new tokens that come after a logout bring no session back")
    func lateTokens() throws {
        let profile = try profile()
        for event in [ClearingEvent.logout, .logoutClear, .sessionTimeOut] {
            let row = try remember(profile)
            // Another user's logout changes nothing.
            try logins.end(UserName("bob"), profile, after: event)
            #expect(try found(profile, key).hasPrefix("session 1"))
            try logins.end(ada, profile, after: event)
            #expect(throws: AuthError.noCredential, "\(event)") { try renew(profile, 2, row).generation }
            #expect(try found(profile, key) == "none")
        }
        let row = try remember(profile)
        try logins.end(ada, profile, after: .idleTimeOut)
        #expect(try renew(profile, 2, row).generation == row.generation + 1)
        _ = try logins.remove(ada, profile.name)
        #expect(try found(profile, key) == "none")
        // The server's end of an older state leaves a later login's session.
        let old = try remember(profile)
        let new = try remember(profile)
        try logins.forgetSession(LoginKey(ada, profile), generation: old.generation)
        #expect(try found(profile, key).hasPrefix("session 1"))
        try logins.forgetSession(LoginKey(ada, profile), generation: new.generation)
        #expect(try found(profile, key) == "none")
    }

    @Test("it times out at its second, also over a reboot and with a clock that is set back")
    func timeOuts() throws {
        let profile = try profile(["SessionTimeOutValue": .number("1000"), "IdleTimeOutValue": .number("400")])
        let first = try remember(profile)
        clock.advance(wall: 399, boot: 399)
        #expect(try found(profile, key).hasSuffix(" 201 601"))
        clock.advance(wall: 1, boot: 1)
        // It was idle for too long, and a refresh that came meanwhile is a use.
        #expect(try found(profile, key) == "none")
        let second = try renew(profile, 2, first)
        clock.advance(wall: 300, boot: 300)
        #expect(try found(profile, key).hasSuffix(" 300 300"))
        let third = try renew(profile, 3, second)
        clock.reboot()
        // Attack: the user sets the clock back before the next boot.
        clock.advance(wall: -5_000)
        #expect(try found(profile, key).hasSuffix(" 300"))
        clock.advance(wall: 5_299, boot: 299)
        #expect(try found(profile, key).hasSuffix(" 1"))
        clock.advance(wall: 1, boot: 1)
        #expect(try found(profile, key) == "none" && place.disk.remembered.isEmpty)
        #expect(throws: AuthError.noCredential) { try renew(profile, 4, third).generation }
    }

    @Test("an older state is not current, and what was read is deleted only if the ledger still has it")
    func overtaken() throws {
        let profile = try profile(), login = LoginKey(ada, profile)
        #expect(try logins.sessionGeneration(login) == nil)
        let first = try remember(profile)
        #expect(try logins.sessionGeneration(login) == 1)
        guard let store = try logins.openIfPresent(), let read = try store.keptToken(id(profile)) else { throw Missing() }
        _ = try renew(profile, 2, first)
        #expect(try logins.sessionGeneration(login) == 2)
        // A command that has read the older row finds that its profile was changed.
        let isDeleted = try store.replace(read, by: nil)
        #expect(!isDeleted)
        #expect(try found(profile, key).hasPrefix("session 2"))
    }

    @Test("a changed or removed profile deletes its sessions at each server, and the same profile none")
    func changed() throws {
        let profile = try profile()
        _ = try remember(profile)
        #expect(try logins.deleteOutdated(profile.name, now: profile) == 0)
        #expect(try logins.deleteOutdated(ProfileName("other"), now: nil) == 0)
        #expect(try found(profile, key).hasPrefix("session 1"))
        let elsewhere = try self.profile(["OAuthTokenEndpoint": .text("https://other.example/token")])
        for now in [elsewhere, try self.profile(["TokenRelease": .text("allow")]), nil] {
            _ = try remember(profile)
            #expect(try logins.deleteOutdated(profile.name, now: now) == 1)
            #expect(try found(profile, key) == "none" && place.disk.remembered.isEmpty)
        }
    }

    @Test("a profile that remembers no tokens any more deletes them")
    func withdrawn() throws {
        let profile = try profile()
        _ = try remember(profile)
        #expect(try !logins.deleteDisallowed(profile))
        #expect(try logins.deleteDisallowed(self.profile(["RememberTokens": .bool(false)])))
        #expect(try found(profile, key) == "none" && place.disk.remembered.isEmpty)
    }

    @Test("each bit and each byte of the row is authenticated, and no secret is in clear")
    func tampered() throws {
        let profile = try profile()
        _ = try remember(profile)
        guard let device = try place.loadDevice() else { throw Missing() }
        let id = try id(profile)
        let stored = try #require(place.disk.remembered[id])
        #expect(try KeptTokenRow(stored, under: id, device).encode(under: device) == stored)
        for offset in stored.indices {
            var bad = stored
            bad[offset] ^= 0x10
            #expect(throws: AuthError.quarantined, "offset \(offset)") { try KeptTokenRow(bad, under: id, device) }
        }
        for count in 0..<stored.count {
            #expect(throws: AuthError.quarantined) { try KeptTokenRow(Array(stored.prefix(count)), under: id, device) }
        }
        for text in ["session 1", "token 1", "id token"] {
            let wanted = Array(text.utf8)
            #expect(!stored.indices.contains { stored[$0...].starts(with: wanted) })
        }
        // The agent's key opens this row only, and none of another user or of a later login.
        let first = try remember(profile), second = try remember(profile), third = try remember(profile, UserName("bob"))
        let isEqual = first.bytes.isEqual(to: second.bytes) || second.bytes.isEqual(to: third.bytes)
        #expect(!isEqual)
    }
}
