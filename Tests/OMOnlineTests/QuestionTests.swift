// The frames of docs/formats/online-protocol.md, good and malformed.

import OMAuth
import OMOnlineModel
import OMRecords
import OMSecrets
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

private func narrowing(_ scopes: [String], _ resource: String?) -> TokenNarrowing {
    TokenNarrowing(scopes: ScopeSet(scopes)!, resource: resource)!
}

@Suite("The online helper's frames") struct QuestionTests {
    private static let services: [OnlineService] = [
        OnlineService(.basic(BasicService(login: "https://a.example/"))),
        OnlineService(
            .basic(
                BasicService(
                    login: "https://a.example/", logout: "https://a.example/out", requiredTokens: ["A", "B"],
                    sendsHeadersAtLogout: true)),
            domain: .init("acme"), headers: [.init("X-A", "b"), .init("X-C", "")], trusted: [1, 2, 3],
            profile: "https://a.example/p", deadlines: OnlineDeadlines(connect: 1, total: 600_000)),
        OnlineService(
            .oauth(OAuthService(.discovery("https://a.example/d"), clientID: "id", scopes: ["a", "b"])),
            domain: .init("acme", header: "X-D")),
        OnlineService(
            .oauth(
                OAuthService(
                    .token("https://a.example/t", revocation: "https://a.example/r"), clientID: "id",
                    includesClientHeader: true))),
        OnlineService(.oauth(OAuthService(.token("https://a.example/t", revocation: nil), clientID: ""))),
        OnlineService(
            .oauth(
                OAuthService(
                    .discovery("https://a.example/d"), clientID: "id", issuer: "https://a.example",
                    origins: ["https://b.example", "https://c.example:8443"]))),
        OnlineService(.oauth(OAuthService(.discovery("https://a.example/d"), clientID: "id", origins: ["https://b.example"]))),
        OnlineService(
            .oauth(
                OAuthService(
                    .configuration("{\"issuer\":\"https://a.example\"}"), clientID: "id", scopes: ["openid"],
                    grant: .authorizationCode, issuer: "https://a.example", origins: ["https://b.example"],
                    browser: BrowserLogin(redirect: "http://127.0.0.1")))),
        OnlineService(
            .oauth(
                OAuthService(
                    .token("https://a.example/t", revocation: nil), clientID: "id", grant: .assertion,
                    issuer: "https://a.example",
                    browser: BrowserLogin(), proof: ClientProof(.none, key: "robot")))),
        OnlineService(
            .certificate(BasicService(login: "https://a.example/", requiredTokens: ["A"])),
            chain: ClientChain([[1, 2], [3]], of: "ü", allowsTLS12: true)),
        OnlineService(.basic(BasicService(login: "https://a.example/")), chain: ClientChain([[1]], of: "a")),
        OnlineService(.oamms(OAMMSService("https://a.example:14100", serviceDomain: "d", application: "ü"))),
        OnlineService(
            .oauth(
                OAuthService(
                    .token("https://a.example/t", revocation: nil), clientID: "id", scopes: ["a"], grant: .clientCredentials))),
        OnlineService(
            .oauth(
                OAuthService(
                    .discovery("https://a.example/d"), clientID: "id", scopes: ["openid"], grant: .authorizationCode,
                    browser: BrowserLogin(redirect: "http://127.0.0.1")))),
        OnlineService(
            .oauth(
                OAuthService(
                    .token("https://a.example/t", revocation: nil), clientID: "id", grant: .deviceCode,
                    browser: BrowserLogin(
                        redirect: "r", authorization: "a", device: "d", keySet: "k", userInfo: "u", prompt: "p", maximumAge: 0,
                        contextClasses: "c", userClaim: "n", loginHint: "h", endSession: "e")))),
        OnlineService(
            .oauth(
                OAuthService(
                    .token("https://a.example/t", revocation: nil), clientID: "id",
                    tokenEndpoints: TokenEndpoints(introspection: "https://a.example/i", userInfo: "https://a.example/u")))),
        OnlineService(
            .oauth(
                OAuthService(
                    .token("https://a.example/t", revocation: nil), clientID: "id", grant: .assertion,
                    browser: BrowserLogin(userInfo: "u"), clientAssertion: .saml2))),
        OnlineService(
            .oauth(OAuthService(.token("https://a.example/t", revocation: nil), clientID: "id", grant: .tokenExchange))),
        OnlineService(
            .oauth(
                OAuthService(
                    .pages(revocation: "https://a.example/r"), clientID: "id", grant: .implicit,
                    browser: BrowserLogin(redirect: "http://127.0.0.1", authorization: "https://a.example/a")))),
    ]

    private static func tasks(_ service: OnlineService) -> [() -> OnlineQuestion] {
        guard !service.isOfClient else {
            return [{ .profile(of: service) }, { .grant(of: service, clientSecret: secret([9])) }]
        }
        guard !service.isOfBrowser else {
            return [
                { .authorize(nil, within: 1, byDevice: !service.isImplicit, of: service) },
                { .authorize("ü", within: 3_600, byDevice: false, of: service, clientSecret: secret([9])) },
                { .check(secret([1]), of: service) }, { .logout(secret([2]), of: service) },
                { .refresh(secret([4]), of: service, clientSecret: secret([5])) }, { .profile(of: service) },
                { .userInfo(secret([4]), of: service) },
                { .introspect(secret([4]), of: service, clientSecret: secret([5])) },
                { .endSession(page: "https://a/out", path: "/once", user: 7, idToken: secret([6]), of: service) },
            ]
        }
        if case .oauth(let oauth) = service.kind, oauth.grant == .assertion, oauth.proof.key != nil {
            return [
                { .assertion(secret([]), nil, user: nil, keepsSession: false, of: service) },
                { .assertion(secret([]), nil, user: "ü", keepsSession: true, of: service, clientSecret: secret([9])) },
                { .assertion(secret([1]), .jwt, user: nil, keepsSession: true, of: service) },
            ]
        }
        if case .oauth(let oauth) = service.kind, oauth.grant == .assertion {
            return [
                { .assertion(secret([1]), .jwt, user: nil, keepsSession: false, of: service) },
                { .assertion(secret([1]), .saml2, user: "ü", keepsSession: true, of: service, clientSecret: secret([9])) },
                { .refresh(secret([4]), of: service) },
            ]
        }
        if case .oauth(let oauth) = service.kind, oauth.grant == .tokenExchange {
            let asked = [
                TokenExchange()!,
                TokenExchange(subjectType: "jwt", actorType: "urn:a", resource: "https://a.example", audience: "b")!,
            ]
            return [
                { .exchange(secret([1]), actor: secret([]), for: asked[0], of: service) },
                { .exchange(secret([1]), actor: secret([2]), for: asked[1], of: service, clientSecret: secret([9])) },
                { .check(secret([1]), of: service) },
            ]
        }
        var all: [() -> OnlineQuestion] = [
            { .login("ü", password: secret([0, 255, 13]), of: service) },
            { .check(secret([1]), of: service) },
            { .logout(secret([]), of: service) },
            { .logout(secret([2]), user: "a", password: secret([3]), of: service) },
            { .profile(of: service) },
        ]
        if case .oauth = service.kind {
            all.append { .refresh(secret([4]), of: service, clientSecret: secret([5])) }
            all.append { .userInfo(secret([4]), of: service) }
            all.append { .introspect(secret([4]), of: service, clientSecret: secret([5])) }
            for (scopes, resource) in [(["a"], nil), ([], "https://a.example"), (["a", "b"], "a:b")] as [([String], String?)] {
                all.append { .narrow(secret([4]), to: narrowing(scopes, resource), of: service, clientSecret: secret([5])) }
            }
        }
        if case .oamms = service.kind {
            all.append { .answer(secret([6, 10]), to: secret([7]), user: "ü", password: secret([8]), of: service) }
        }
        return all
    }

    @Test("a question is read as it was written, and written again as the same bytes")
    func roundTrip() throws {
        var count = 0
        for service in Self.services {
            for make in Self.tasks(service) {
                let question = make()
                let body = try bytes(of: question)
                let again = try OnlineQuestion(decoding: body.span)
                let isSame =
                    again.service == service && again.id == question.id && again.task == question.task
                    && again.answers.isEqual(to: question.answers) && again.session.isEqual(to: question.session)
                    && again.password.isEqual(to: question.password)
                    && again.subject.isEqual(to: question.subject) && again.actor.isEqual(to: question.actor)
                #expect(isSame)
                let written = try bytes(of: again)
                #expect(written == body)
                count += 1
            }
        }
        #expect(count == 139)
    }

    @Test("a question that is cut anywhere, or has a byte after it, is refused")
    func cut() throws {
        for service in Self.services {
            for make in Self.tasks(service) {
                let body = try bytes(of: make())
                for length in 0..<body.count { #expect(refused(Array(body[..<length])) == true) }
                #expect(refused(body + [0]) == true)
                #expect(refused(body) == false)
            }
        }
    }

    @Test("a question with a value that the page does not have is refused")
    func malformed() throws {
        let number = [UInt8](repeating: 7, count: 16)
        let times: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 1]
        let plain: [UInt8] = [0, 0, 0, 0, 0]
        let basic: [UInt8] = [1, 0, 1, 65, 0, 0, 0, 0, 0]
        #expect(!refused(number + times + plain + basic + [5]))
        for (what, body) in [
            ("a deadline of 0", number + [0, 0, 0, 0, 0, 0, 0, 1] + plain + basic + [5]),
            ("a deadline of an hour", number + [0, 0, 0, 1, 0, 0x36, 0xEE, 0x80] + plain + basic + [5]),
            ("a flag of 2", number + times + [2, 0, 0, 0, 0] + basic + [5]),
            ("65 headers", number + times + [0, 0, 65, 0, 0] + basic + [5]),
            ("no kind", number + times + plain + [0, 0, 1, 65, 0, 0, 0, 0, 5]),
            ("kind 5", number + times + plain + [5, 0, 1, 65, 0, 0, 0, 0, 0, 5]),
            ("kind 4 without a certificate", number + times + plain + [4, 0, 1, 65, 0, 0, 0, 0, 0, 5]),
            ("no certificate in a chain", number + times + plain + basic.dropLast() + [1, 0, 1, 65, 0, 0, 5]),
            ("an empty certificate", number + times + plain + basic.dropLast() + [1, 0, 1, 65, 1, 0, 0, 0, 0, 0, 5]),
            (
                "11 certificates",
                number + times + plain + basic.dropLast() + [1, 0, 1, 65, 11]
                    + [UInt8]((0..<11).flatMap { _ in [0, 0, 0, 1, 9] as [UInt8] }) + [0, 5]
            ),
            (
                "a certificate beyond the limit",
                number + times + plain + basic.dropLast() + [1, 0, 1, 65, 1, 0, 1, 0, 1]
                    + [UInt8](repeating: 9, count: (64 << 10) + 1) + [0, 5]
            ),
            ("no UTF-8", number + times + plain + [1, 0, 1, 0xFF, 0, 0, 0, 0, 5]),
            ("task 0", number + times + plain + basic + [0]), ("task 10", number + times + plain + basic + [10]),
            ("a page of Basic", number + times + plain + basic + [9, 0, 0, 0, 0, 1, 0]),
            ("a grant of Basic", number + times + plain + basic + [8]),
            ("userinfo of Basic", number + times + plain + basic + [11, 0, 0, 0, 0]),
            ("an end of session of Basic", number + times + plain + basic + [12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            ("endpoints of Basic", number + times + plain + basic + [7]),
            ("answers for Basic", number + times + plain + basic + [6] + [UInt8](repeating: 0, count: 14)),
            ("a refresh of Basic", number + times + plain + basic + [3, 0, 0, 0, 0]),
            (
                "a session beyond the limit",
                number + times + plain + basic + [2, 0, 8, 0, 1]
                    + [UInt8](repeating: 0, count: (512 << 10) + 1)
            ),
            (
                "certificates beyond the limit",
                number + times + [0, 0, 0, 1, 0, 16, 0, 1]
                    + [UInt8](repeating: 0, count: (1 << 20) + 1) + [0] + basic + [5]
            ),
        ] {
            #expect(refused(body), "\(what)")
        }
    }

    @Test("a question about a user is refused for a service of a client itself, and a question for its token for every other")
    func client() throws {
        let kinds = try #require(Self.services.first { $0.isOfClient })
        let owner = try #require(Self.services.first { if case .oauth = $0.kind { !$0.isOfClient } else { false } })
        let grant = try bytes(of: .grant(of: kinds, clientSecret: secret([9])))
        #expect(!refused(grant))
        func of(_ grant: OAuthService.Grant) throws -> OnlineService {
            try #require(Self.services.first { if case .oauth(let oauth) = $0.kind { oauth.grant == grant } else { false } })
        }
        let exchanging = try of(.tokenExchange)
        let asserting = OnlineService(
            .oauth(
                OAuthService(
                    .token("https://a.example/t", revocation: nil), clientID: "id", grant: .assertion, browser: BrowserLogin())))
        let keyed = OnlineService(
            .oauth(
                OAuthService(
                    .token("https://a.example/t", revocation: nil), clientID: "id", grant: .assertion, browser: BrowserLogin(),
                    proof: ClientProof(key: "robot"))))
        let unbound = OnlineService(.oauth(OAuthService(.configuration("{}"), clientID: "id")))
        let asked = try #require(TokenExchange())
        let others: [() -> OnlineQuestion] = [
            { .login("a", password: secret([1]), of: kinds) }, { .check(secret([1]), of: kinds) },
            { .refresh(secret([1]), of: kinds) }, { .narrow(secret([1]), to: narrowing(["a"], nil), of: kinds) },
            { .logout(secret([1]), of: kinds) }, { .userInfo(secret([1]), of: kinds) }, { .introspect(secret([1]), of: kinds) },
            { .grant(of: owner, clientSecret: secret([9])) },
            // An assertion and an exchange fit their own grants only, and no password is typed for these.
            { .assertion(secret([1]), .jwt, user: nil, keepsSession: true, of: owner) },
            { .assertion(secret([1]), .jwt, user: nil, keepsSession: true, of: exchanging) },
            { .exchange(secret([1]), actor: secret([]), for: asked, of: owner) },
            { .exchange(secret([1]), actor: secret([]), for: asked, of: asserting) },
            { .exchange(secret([1]), actor: secret([2]), for: asked, of: exchanging) },
            // A client without a key signs nothing, and with one it has no other assertion beside its own.
            { .assertion(secret([]), nil, user: nil, keepsSession: true, of: asserting) },
            { .assertion(secret([1]), nil, user: nil, keepsSession: true, of: keyed) },
            // Metadata without an issuer would allow every origin.
            { .login("a", password: secret([1]), of: unbound) },
            { .login("a", password: secret([1]), of: asserting) }, { .login("a", password: secret([1]), of: exchanging) },
        ]
        for (index, make) in others.enumerated() {
            let body = try bytes(of: make())
            #expect(refused(body), "\(index)")
        }
        // The grant is the byte behind the kind: behind the number, the deadlines and five absent parts.
        let place = 16 + 8 + 5 + 1
        #expect(Array(grant[place - 1...place]) == [2, 2])
        // A grant with a browser has its settings, and another one has none.
        for value: UInt8 in [0, 1, 3, 4, 5, 6, 7] {
            var other = grant
            other[place] = value
            #expect(refused(other))
        }
    }

    private func refused(_ body: [UInt8]) -> Bool {
        do throws(MalformedBytes) {
            _ = try OnlineQuestion(decoding: body.span)
            return false
        } catch { return true }
    }

    @Test("a value that is too long for the protocol gives no question")
    func tooLong() {
        let long = String(repeating: "a", count: 65_536)
        let service = OnlineService(.basic(BasicService(login: long)))
        func isNone(_ question: consuming OnlineQuestion) -> Bool {
            switch question.encoded() {
            case .some: false
            case .none: true
            }
        }
        #expect(isNone(.profile(of: service)) == true)
        let many = OnlineService(.basic(BasicService(login: "a", requiredTokens: Array(repeating: "a", count: 65))))
        #expect(isNone(.profile(of: many)) == true)
        let plain = Self.services[0]
        #expect(isNone(.check(SecretBytes(count: (512 << 10) + 1) { _ in }, of: plain)) == true)
        #expect(isNone(.login("a", password: SecretBytes(count: (1 << 20) + 1) { _ in }, of: plain)) == true)
        #expect(isNone(.login(long, password: secret([]), of: plain)) == true)
        #expect(isNone(.login("a", password: secret([]), of: plain)) == false)
    }

    private static let refusals: [OnlineRefusal] =
        [.rejected, .blocked] + ForbiddenCause.allCases.map { .forbidden($0) }
        + UnreachableCause.allCases.filter { $0 != .noHelper }.map { .unreachable($0) }
        + UntrustedCause.allCases.map { .untrusted($0) } + OnlineFailure.allCases.map { .failed($0) }
        + [.failed(.serverError, status: 503, retryAfter: 7), .failed(.tokenMissing, status: 200)]

    @Test("an answer is read only to its own question, as it was written, and not cut or with a byte after it")
    func answers() throws {
        let (number, other) = (Random.bytes(16), Random.bytes(16))
        func outcome(_ body: [UInt8], _ number: [UInt8], _ task: OnlineTask = .login(user: "a")) -> String {
            do {
                let got = try OnlineReply.decode(body.span, to: number, task).get()
                let (lifetime, time, profile) = (got.lifetime, got.serverTime, got.profile)
                var count = -1
                if let session = got.takeSession() { count = session.count }
                if case .missing(let refusal) = profile { return "\(count) \(lifetime ?? 0) \(time ?? 0) \(refusal)" }
                return "\(count) \(lifetime ?? 0) \(time ?? 0) \(profile.profile?.values.count ?? -1)"
            } catch let refusal as OnlineRefusal {
                return "\(refusal)"
            } catch {
                return "malformed"
            }
        }
        let profile = ServerProfile(
            epoch: 9, application: "W", values: ["MaxLoginAttempts": "3", "CryptoScheme": "AES"])
        func accepted(_ session: [UInt8]?, _ given: ServerProfile?, _ missing: OnlineRefusal? = nil) -> [UInt8] {
            let profile = given.map { ProfileAnswer.given($0) } ?? missing.map { ProfileAnswer.missing($0) } ?? .notAsked
            if let session {
                return body(
                    of: .accepted(
                        OnlineAcceptance(session: secret(session), lifetime: 5, serverTime: 6, profile: profile)),
                    number)
            }
            return body(
                of: .accepted(OnlineAcceptance(session: nil, lifetime: 5, serverTime: 6, profile: profile)), number)
        }
        var rows = Self.refusals.map { (body(of: OnlineReply.refused($0), number), "\($0)") }
        rows.append((accepted([1, 2], nil), "2 5 6 -1"))
        rows.append((accepted([1, 2], profile), "2 5 6 2"))
        for refusal in Self.refusals where !refusal.isDecision {
            rows.append((accepted([1, 2], nil, refusal), "2 5 6 \(refusal)"))
        }
        for (body, expected) in rows {
            #expect(outcome(body, number) == expected)
            #expect(outcome(body, other) == "malformed")
            #expect(outcome(body + [0], number) == "malformed")
            for length in 0..<body.count { #expect(outcome(Array(body[..<length]), number) == "malformed") }
        }
        // More or less than the question allows: whether a session and a profile may come, by task.
        for (task, allowed) in [
            (.login(user: "a"), [false, false, true, true]), (.check, [true, false, true, false]),
            (.answer(user: "a"), [false, false, true, true]), (.refresh, [false, false, true, false]),
            (.logout(user: nil), [true, false, false, false]),
            // Without an access token.
            (.narrow(narrowing(["a"], nil)), [false, false, false, false]),
            (.profile, [false, true, false, false]), (.endSession(page: "p", path: "/", user: 7), [true, false, false, false]),
            // Without claims.
            (.userInfo, [false, false, false, false]), (.introspect, [false, false, false, false]),
            // Without an access token.
            (.exchange(try #require(TokenExchange())), [false, false, false, false]),
            (.assertion(user: nil, .jwt, keepsSession: true), [false, false, false, false]),
        ] as [(OnlineTask, [Bool])] {
            let missing = outcome(accepted([1], nil, .failed(.unusableProfile)), number, task)
            let hasProfile = task == .login(user: "a") || task == .answer(user: "a")
            #expect((missing == "malformed") != hasProfile, "\(task)")
            let bodies = [accepted(nil, nil), accepted(nil, profile), accepted([1], nil), accepted([1], profile)]
            #expect(bodies.map { outcome($0, number, task) != "malformed" } == allowed, "\(task)")
        }
        for tail: [UInt8] in [
            [7], [255], [4, 0], [4, 6], [5, 4], [6, 0, 0, 0], [6, 26, 0], [6, 200, 0, 0], [4, 8], [6, 1, 2, 0], [0, 2, 0, 0, 0],
            // A policy that always passes, and an epoch beyond 2^53 - 1.
            [0, 1, 0, 0, 0, 0, 0, 0, 2, 1], [0, 1, 0, 0, 0, 0, 0, 0, 2, 2], [0, 1, 0, 0, 0, 0, 0, 0, 2, 3],
            [0, 1, 0, 0, 0, 0, 0, 0, 3], [0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 1, 0, 0x20, 0, 0, 0, 0, 0, 1, 0],  // a time beyond 2^53
            [0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 8) + [0, 1, 5, 0, 0],  // a key that does not exist
            [0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 8) + [0, 2, 1, 0, 0, 1, 0, 0],  // one key twice
        ] {
            #expect(outcome(number + tail, number) == "malformed", "\(tail)")
        }
    }

    @Test("endpoints come only to their question, in order, each with an address, and not cut")
    func endpoints() throws {
        let number = Random.bytes(16)
        func read(_ body: [UInt8], _ task: OnlineTask = .endpoints) -> [ServerEndpoint]? {
            do { return try OnlineReply.decode(body.span, to: number, task).get().endpoints } catch { return nil }
        }
        func body(_ endpoints: [ServerEndpoint]?) -> [UInt8] {
            self.body(of: .accepted(OnlineAcceptance(session: nil, endpoints: endpoints)), number)
        }
        let all = ServerEndpoint.Kind.allCases.map { ServerEndpoint($0, "https://a.example/\($0.rawValue)") }
        for list in [[], [all[0]], all] { #expect(read(body(list)) == list) }
        let good = body(all)
        for length in 0..<good.count { #expect(read(Array(good[..<length])) == nil) }
        #expect(read(good + [0]) == nil && read(body(nil)) == nil)
        for task: OnlineTask in [.login(user: "a"), .check, .refresh, .logout(user: nil), .profile, .answer(user: "a")] {
            #expect(read(good, task) == nil, "\(task)")
        }
        let long = String(repeating: "a", count: ServerEndpoint.longest + 1)
        for wrong in [[all[0], all[0]], [all[1], all[0]], [ServerEndpoint(.token, "")], [ServerEndpoint(.token, long)]] {
            #expect(read(body(wrong)) == nil)
        }
        #expect(read(number + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 97]) == nil, "kind 0")
        #expect(read(number + [0, 0, 0, 0, 0, 0, 0, 1, 16, 0, 1, 97]) == nil, "kind 16")
        #expect(read(number + [0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 97]) == [ServerEndpoint(.token, "a")])
    }

    @Test("an access token comes beside a session or to the question for it, with scopes in order, and not cut")
    func access() throws {
        let number = Random.bytes(16)
        func outcome(_ body: [UInt8], _ task: OnlineTask) -> String {
            do {
                let got = try OnlineReply.decode(body.span, to: number, task).get()
                switch got.takeAccess() {
                case .some(let token):
                    return token.value.withBytes { bytes in "\(bytes.indices.map { bytes[$0] }) \(token.scopes.names)" }
                case .none: return "none"
                }
            } catch { return "malformed" }
        }
        func accepted(_ session: [UInt8]?, _ token: [UInt8], _ scopes: [String] = ["b", "a"]) throws -> [UInt8] {
            let access = AccessToken(secret(token), scopes: try #require(ScopeSet(scopes)))
            let kept: SecretBytes? = if let session { secret(session) } else { nil }
            return body(of: .accepted(OnlineAcceptance(session: kept, access: access, lifetime: 5)), number)
        }
        let beside = try accepted([1], [7, 8]), alone = try accepted(nil, [7, 8])
        for task: OnlineTask in [.login(user: "a"), .check, .refresh, .narrow(narrowing(["a"], nil))] {
            #expect(outcome(beside, task) == #"[7, 8] ["a", "b"]"#, "\(task)")
            #expect(outcome(alone, task) == "malformed", "\(task)")
        }
        #expect(outcome(alone, .grant) == #"[7, 8] ["a", "b"]"# && outcome(beside, .grant) == "malformed")
        for task: OnlineTask in [
            .answer(user: "a"), .logout(user: nil), .profile, .endpoints, .userInfo, .introspect,
            .endSession(page: "p", path: "/", user: 7),
        ] {
            #expect(outcome(beside, task) == "malformed" && outcome(alone, task) == "malformed", "\(task)")
        }
        for length in 0..<alone.count { #expect(outcome(Array(alone[..<length]), .grant) == "malformed") }
        #expect(outcome(alone + [0], .grant) == "malformed")
        // An empty token, and scopes in another order, twice, or with a blank.
        let head: [UInt8] = number + [0, 0, 0, 0, 0, 1]
        #expect(outcome(head + [0, 0, 0, 1, 7, 0, 1, 0, 1, 97, 0], .grant) == #"[7] ["a"]"#)
        for tail: [UInt8] in [
            [0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 7, 0, 2, 0, 1, 98, 0, 1, 97, 0], [0, 0, 0, 1, 7, 0, 2, 0, 1, 97, 0, 1, 97, 0],
            [0, 0, 0, 1, 7, 0, 1, 0, 1, 32, 0], [0, 0, 0, 1, 7, 0, 1, 0, 0, 0],
            // An empty ID token.
            [0, 0, 0, 1, 7, 0, 1, 0, 1, 97, 1, 0, 0, 0, 0],
        ] { #expect(outcome(head + tail, .grant) == "malformed", "\(tail)") }
        let refused = body(of: .refused(.rejected), number)
        #expect(outcome(refused, .grant) == "malformed")
        // After a login at the server's own pages the user comes too, and always a session with its token.
        let page = OnlineTask.authorize(user: nil, seconds: 1, byDevice: false)
        #expect(outcome(beside + [0], page) == #"[7, 8] ["a", "b"]"#)
        for wrong in [beside, alone, alone + [0], beside + [2], beside + [0, 0]] { #expect(outcome(wrong, page) == "malformed") }
    }

    @Test("the question for endpoints is written and read, only for a service with a document of them")
    func endpointsQuestion() throws {
        for service in Self.services {
            let body = try bytes(of: .endpoints(of: service))
            #expect(refused(body) == !service.namesEndpoints)
        }
        #expect(Self.services.contains { $0.namesEndpoints } && Self.services.contains { !$0.namesEndpoints })
    }

    @Test("questions come only to a login, at least one and at most eight, and not cut")
    func asked() throws {
        let number = Random.bytes(16)
        func isAsked(_ body: [UInt8], _ task: OnlineTask) -> Bool {
            do throws(MalformedBytes) {
                switch try OnlineReply.decode(body.span, to: number, task) {
                case .asked(let questions, let state): return questions == ["ü?", "b"] && state.isEqual(to: secret([1, 2]))
                case .accepted: return false
                case .refused: return false
                }
            } catch { return false }
        }
        func body(_ questions: [String]) -> [UInt8] { self.body(of: .asked(questions, state: secret([1, 2])), number) }
        let good = body(["ü?", "b"])
        #expect(isAsked(good, .login(user: "a")) && isAsked(good, .answer(user: "a")))
        for task: OnlineTask in [.check, .refresh, .logout(user: nil), .profile] { #expect(!isAsked(good, task), "\(task)") }
        for length in 0..<good.count { #expect(!isAsked(Array(good[..<length]), .login(user: "a"))) }
        let long = String(repeating: "a", count: 513)
        for wrong in [[], [""], [long], Array(repeating: "a", count: 9)] {
            let bytes = body(wrong)
            #expect(throws: MalformedBytes.self) {
                _ = try OnlineReply.decode(bytes.span, to: number, .login(user: "a"))
            }
        }
    }

    private func bytes(of question: borrowing OnlineQuestion) throws -> [UInt8] {
        guard let body = question.encoded() else { throw MalformedBytes() }
        return body.withBytes { body in body.indices.map { body[$0] } }
    }

    private func body(of reply: consuming OnlineReply, _ number: [UInt8], to task: OnlineTask = .check) -> [UInt8] {
        reply.encoded(number, task).withBytes { body in body.indices.map { body[$0] } }
    }
}

private func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes) }
