// Exchanged tokens in the ledger: their life, their binding and their end. docs/formats/login-format.md, "Kept tokens".

import OMOnlineModel
import OMSecrets
import OMSystem
import Testing

@testable import OMAuth

@Suite("Exchanged tokens that are kept") struct KeptTokenTests {
    private let place = MemoryLoginBackend()
    private let clock = TestClock()
    private var logins: Authenticator { place.authenticator(clock: clock) }
    private let key = RememberingKey(.random())

    /// A server that gives a token with this life.
    private struct Exchanger: AssertionProvider {
        var lifetime: UInt32?

        func logIn(
            _ question: AssertionQuestion, with assertion: borrowing SecretBytes, cancellation: Cancellation
        ) -> BrowserAnswer { BrowserAnswer(.refused(.failed(.unsupportedGrant)), user: nil) }

        func exchange(
            _ subject: borrowing SecretBytes, actor: borrowing SecretBytes, for asked: TokenExchange, under profile: Profile,
            scopes: ScopeSet?, cancellation: Cancellation
        ) -> ProviderAnswer {
            .accepted(
                policy: nil, serverTime: nil, session: SecretBytes(copying: Array("the session".utf8)),
                access: AccessToken(SecretBytes(copying: Array("the token".utf8)), scopes: ScopeSet(granted: ["a", "b"])),
                lifetime: lifetime)
        }

        func end(_ session: consuming SecretBytes, of request: LoginRequest) -> OnlineRefusal? { nil }
    }

    private func profile(_ more: [String: ProfileValue] = [:]) throws -> Profile {
        let values: [String: ProfileValue] = [
            "AuthServerType": .text("OAuthAuthentication"), "OAuthAuthZGrantType": .text("OAuthTokenExchange"),
            "OAuthTokenEndpoint": .text("https://login.example/token"), "OAuthClientID": .text("robot"),
        ]
        return try Profile(ProfileName("work"), values: values.merging(more) { $1 })
    }

    @discardableResult
    private func keep(_ profile: Profile, life: UInt32? = 100_000, user: UserName? = nil) throws -> ClearedToken {
        let subject = SecretBytes(copying: [65]), actor = SecretBytes(copying: [])
        let receipt = try logins.exchange(
            subject, actor: actor, for: #require(TokenExchange()), under: profile, user: user, asking: Exchanger(lifetime: life))
        return try logins.keepExchange(receipt, profile, key: key)
    }

    /// `live` with its scopes and the seconds that are left, or why it is not.
    private func found(_ profile: Profile, _ key: RememberingKey?) throws -> String {
        switch try logins.keptExchange(profile, key: key) {
        case .none: return "none"
        case .expired: return "expired"
        case .otherBackend: return "other_backend"
        case .locked: return "locked"
        case .otherKey: return "other key"
        case .live(let receipt):
            let left = (receipt.sessionExpires ?? 0) - clock.read().sinceBoot
            switch receipt.access {
            case .none: return "no token"
            case .some(let access):
                let token = access.value.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
                return "live \(token) \(access.scopes.names) \(receipt.details.user.text) \(left)"
            }
        }
    }

    @Test("a token lives for expires_in or TokenExchangeTimeout, the smaller one; at that second it is gone")
    func life() throws {
        let profile = try profile()
        #expect(try found(profile, key) == "none")
        for (given, life) in [(UInt32(3_600), Int64(3_600)), (100_000, 21_600), (nil, 21_600)] as [(UInt32?, Int64)] {
            try keep(profile, life: given)
            #expect(try found(profile, key) == "live the token [\"a\", \"b\"] robot \(life)")
            clock.advance(wall: life - 1, boot: life - 1)
            #expect(try found(profile, key) == "live the token [\"a\", \"b\"] robot 1")
            clock.advance(wall: 1, boot: 1)
            #expect(try found(profile, key) == "expired")
            // It was deleted with that.
            #expect(try found(profile, key) == "none" && place.disk.remembered.isEmpty)
        }
        let short = try self.profile(["TokenExchangeTimeout": .number("60")])
        try keep(short)
        clock.advance(wall: 60, boot: 60)
        #expect(try found(short, key) == "expired")
    }

    @Test("the token before is given back, and stays if the ledger does not take the new one")
    func replaced() throws {
        let profile = try profile()
        guard case .none = try keep(profile, user: UserName("ada")) else { throw Surprise() }
        place.power = 0
        #expect(throws: AuthError.self) { try keep(profile, user: UserName("bob")) }
        place.power = nil
        #expect(try found(profile, key).contains(" ada "))
        guard case .cleared(let login, _) = try keep(profile, user: UserName("bob")) else { throw Surprise() }
        #expect(try login.user.text == "ada" && found(profile, key).contains(" bob "))
    }

    @Test("an actor's type and an actor's token come together, and the client's key signs only where there is no assertion")
    func odd() throws {
        let subject = SecretBytes(copying: [65]), profile = try profile()
        let refused = AuthError.online(.failed(.unusableAssertion))
        for (type, isThere) in [("jwt", false), (nil, true)] as [(String?, Bool)] {
            let actor = SecretBytes(copying: isThere ? [65] : []), asked = try #require(TokenExchange(actorType: type))
            #expect(throws: refused) {
                _ = try logins.exchange(subject, actor: actor, for: asked, under: profile, asking: Exchanger(lifetime: 9))
            }
        }
        let grant: [String: ProfileValue] = [
            "OAuthAuthZGrantType": .text("OAuthAssertion"), "OAuthClientKey": .text("identity:k"),
            "OAuthIssuer": .text("https://login.example"),
        ]
        let minting = try self.profile(grant)
        let given = try self.profile(grant.merging(["OAuthUserJWTAssertionValue": .text("file:/a")]) { $1 })
        for (profile, isEmpty, error) in [
            (minting, true, .online(.failed(.unsupportedGrant))), (minting, false, refused), (given, true, refused),
        ] as [(Profile, Bool, AuthError)] {
            let assertion = SecretBytes(copying: isEmpty ? [] : [65])
            #expect(throws: error) {
                _ = try logins.logIn(AssertionQuestion(profile, kind: nil), with: assertion, asking: Exchanger(lifetime: 9))
            }
        }
    }

    @Test("it outlives a reboot, and a clock that is set back makes it live no longer")
    func reboot() throws {
        let profile = try profile()
        try keep(profile)
        clock.advance(wall: 600, boot: 600)
        clock.reboot()
        #expect(try found(profile, key).hasSuffix(" 21000"))
        // Attack: the user sets the clock back, in this boot and before the next one.
        clock.advance(wall: -5_000, boot: 1_000)
        #expect(try found(profile, key).hasSuffix(" 20000"))
        clock.reboot()
        #expect(try found(profile, key).hasSuffix(" 20000"))
        clock.advance(wall: 0, boot: 19_999)
        #expect(try found(profile, key).hasSuffix(" 1"))
        clock.advance(boot: 1)
        #expect(try found(profile, key) == "expired")
    }

    @Test("what was read is replaced only if the ledger still has it, and each load is a use")
    func overtaken() throws {
        let profile = try profile(["IdleTimeOutValue": .number("100")])
        try keep(profile)
        guard let store = try logins.openIfPresent() else { throw Missing() }
        let id = KeptTokenRow.exchangeID(profile, store.device)
        let read = try #require(try store.keptToken(id))
        try keep(profile)
        let newer = try store.keptToken(id)
        let (isReplaced, isDeleted) = (try store.replace(read, by: read), try store.replace(read, by: nil))
        let kept = try store.keptToken(id)
        #expect(!isReplaced && !isDeleted && kept == newer)
        clock.advance(wall: 99, boot: 99)
        #expect(try found(profile, key).hasPrefix("live"))
        clock.advance(wall: 99, boot: 99)
        #expect(try found(profile, key).hasPrefix("live"))
        clock.advance(wall: 100, boot: 100)
        #expect(try found(profile, key) == "none")
    }

    @Test("a changed profile deletes it, and a changed backend keeps it")
    func changed() throws {
        let profile = try profile()
        try keep(profile)
        #expect(try logins.deleteOutdated(profile.name, now: self.profile(["MobileBackendID": .text("b-2")])) == 0)
        #expect(try found(profile, key).hasPrefix("live"))
        #expect(try logins.deleteOutdated(profile.name, now: self.profile(["TokenRelease": .text("allow")])) == 1)
        #expect(try found(profile, key) == "none")
    }

    @Test("it is for its issuer, its backend and its version, and for its profile as it was")
    func bound() throws {
        let backend: [String: ProfileValue] = ["MobileBackendID": .text("b-1"), "MobileBackendVersion": .text("1.0")]
        let one = try profile(backend)
        try keep(one)
        for (name, value) in [("MobileBackendID", "b-2"), ("MobileBackendVersion", "1.1"), ("OAuthIssuer", "https://i.example")] {
            #expect(try found(try profile(backend.merging([name: .text(value)]) { $1 }), key) == "other_backend", "\(name)")
        }
        #expect(try found(try profile(), key) == "other_backend")
        // The token of another backend stays: the profile may be set back.
        #expect(try found(one, key).hasPrefix("live"))
        // Another server has none, and any other change deletes it.
        let elsewhere = try profile(backend.merging(["OAuthTokenEndpoint": .text("https://other.example/token")]) { $1 })
        #expect(try found(elsewhere, key) == "none")
        #expect(try found(one, key).hasPrefix("live"))
        #expect(try found(try profile(backend.merging(["TokenRelease": .text("allow")]) { $1 }), key) == "none")
        #expect(try found(one, key) == "none")
    }

    @Test("without the key of its level it is locked and stays; another vault's key never opens it")
    func level() throws {
        let profile = try profile()
        try keep(profile)
        #expect(try found(profile, nil) == "locked")
        #expect(try found(profile, RememberingKey(.random())) == "other key")
        #expect(try found(profile, key).hasPrefix("live"))
        #expect(place.disk.remembered.values.allSatisfy { !contains($0, "the token") && !contains($0, "the session") })
    }

    private func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        let wanted = Array(text.utf8)
        return bytes.indices.contains { bytes[$0...].starts(with: wanted) }
    }

    @Test("each bit and each byte of the row is authenticated; a row under another id is none")
    func tampered() throws {
        let profile = try profile()
        try keep(profile)
        guard let device = try place.loadDevice() else { throw Missing() }
        let id = KeptTokenRow.exchangeID(profile, device)
        let stored = try #require(place.disk.remembered[id])
        let row = try KeptTokenRow(stored, under: id, device)
        #expect(row.encode(under: device) == stored)
        for offset in stored.indices {
            var bad = stored
            bad[offset] ^= 0x10
            #expect(throws: AuthError.quarantined, "offset \(offset)") { try KeptTokenRow(bad, under: id, device) }
        }
        for count in 0..<stored.count {
            #expect(throws: AuthError.quarantined) { try KeptTokenRow(Array(stored.prefix(count)), under: id, device) }
        }
        let other = LoginID([UInt8](repeating: 1, count: LoginID.count))
        #expect(throws: AuthError.quarantined) { try KeptTokenRow(stored, under: other, device) }
    }

    @Test("a backend's id goes out once: it has precedence over a header of that name")
    func header() throws {
        let profile = try profile([
            "CustomAuthHeaders": .text("oracle-mobile-backend-id:b-2,X-A:1"), "MobileBackendID": .text("b-1"),
        ])
        #expect(profile.serverHeaders.map { "\($0.name)=\($0.value)" } == ["X-A=1", "Oracle-Mobile-Backend-ID=b-1"])
    }

    @Test("clear is idempotent, deletes a damaged row too, and gives back the session that the key opens")
    func cleared() throws {
        let profile = try profile()
        func cleared(_ key: RememberingKey?) throws -> String {
            switch try logins.deleteKeptExchange(profile, key: key) {
            case .none: return "none"
            case .damaged: return "damaged"
            case .locked(let login): return "locked \(login.user.text)"
            case .cleared(let login, let session):
                return "\(login.user.text): "
                    + session.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
            }
        }
        #expect(try cleared(key) == "none")
        try keep(profile, user: UserName("ada"))
        #expect(try logins.exchangeLogin(profile)?.user.text == "ada")
        #expect(try cleared(key) == "ada: the session")
        #expect(try cleared(key) == "none" && logins.exchangeLogin(profile) == nil)
        #expect(try found(profile, key) == "none")
        for other in [nil, RememberingKey(.random())] {
            try keep(profile, user: UserName("ada"))
            #expect(try cleared(other) == "locked ada")
        }
        try keep(profile)
        place.disk.remembered = place.disk.remembered.mapValues { $0.dropLast() + [($0.last ?? 0) ^ 1] }
        #expect(try cleared(key) == "damaged")
        #expect(place.disk.remembered.isEmpty)
    }

    @Test(
        "what ends a session deletes its token, and what leaves it does not",
        arguments: [
            (ClearingEvent.logout, false), (.logoutClear, false), (.sessionTimeOut, false), (.idleTimeOut, true),
        ])
    func ended(_ event: ClearingEvent, _ isKept: Bool) throws {
        let profile = try profile()
        try keep(profile, user: UserName("ada"))
        // Another user's logout changes nothing.
        try logins.end(UserName("bob"), profile, after: event)
        #expect(try found(profile, key).hasPrefix("live"))
        try logins.end(UserName("ada"), profile, after: event)
        #expect(try found(profile, key).hasPrefix("live") == isKept)
    }

    @Test("login rm deletes it, and finds a login that is nothing else")
    func removed() throws {
        let profile = try profile()
        try keep(profile, user: UserName("ada"))
        _ = try logins.remove(UserName("ada"), profile.name)
        #expect(try found(profile, key) == "none")
        #expect(throws: AuthError.noCredential) { try logins.remove(UserName("ada"), profile.name) }
    }

    @Test("a session that times out earlier is not loaded again")
    func sessionTimeOut() throws {
        let profile = try profile(["SessionTimeOutValue": .number("60")])
        try keep(profile)
        clock.advance(wall: 59, boot: 59)
        #expect(try found(profile, key).hasSuffix(" 1"))
        clock.advance(wall: 1, boot: 1)
        #expect(try found(profile, key) == "expired")
    }

    @Test("the user of an assertion is whom the server names; without a name it is the client, and no user who was asked for")
    func user() throws {
        struct Naming: AssertionProvider {
            let name: String?
            let ended: Locked

            func logIn(
                _ question: AssertionQuestion, with assertion: borrowing SecretBytes, cancellation: Cancellation
            ) -> BrowserAnswer {
                BrowserAnswer(
                    .accepted(policy: nil, serverTime: nil, session: SecretBytes(copying: [1])),
                    user: name.map { NamedUser($0, subject: "s") })
            }

            func exchange(
                _ subject: borrowing SecretBytes, actor: borrowing SecretBytes, for asked: TokenExchange,
                under profile: Profile, scopes: ScopeSet?, cancellation: Cancellation
            ) -> ProviderAnswer { .refused(.failed(.unsupportedGrant)) }

            func end(_ session: consuming SecretBytes, of request: LoginRequest) -> OnlineRefusal? {
                ended.note()
                return nil
            }
        }
        let profile = try profile([
            "OAuthAuthZGrantType": .text("OAuthAssertion"), "OAuthUserJWTAssertionValue": .text("file:/a"),
        ])
        let assertion = SecretBytes(copying: [65]), ended = Locked()
        func user(_ named: String?, _ asked: String?) throws(AuthError) -> String {
            let question = AssertionQuestion(
                profile, user: try asked.map { (text) throws(AuthError) in try UserName(text) }, kind: .jwt)
            let receipt = try logins.logIn(question, with: assertion, asking: Naming(name: named, ended: ended))
            return receipt.details.user.text
        }
        #expect(try user("ada", nil) == "ada" && user("ada", "ada") == "ada")
        #expect(try user(nil, nil) == "robot")
        #expect(ended.count == 0)
        #expect(throws: AuthError.online(.failed(.unnamedUser))) { try user(nil, "bob") }
        #expect(throws: AuthError.online(.failed(.otherUser))) { try user("ada", "bob") }
        #expect(throws: AuthError.online(.failed(.unusableUser))) { try user("a\u{7}", nil) }
        #expect(ended.count == 3)
    }
}

private struct Surprise: Error {}

/// How often something happened.
private final class Locked: @unchecked Sendable {
    private(set) var count = 0
    func note() { count += 1 }
}
