// Logins by another device: the answers of RFC 8628, and the times of the questions by a clock of the test.

import Foundation
import NIOHTTP1
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

/// Signs with a text.
private struct FixedSigner: IdentitySigner {
    func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes { bytes("signed") }
}

@Suite("A login by another device") struct DeviceLoginTests {
    /// A clock that runs only while someone sleeps.
    private final class TestClock: Sendable {
        private let elapsed = Locked<Duration>(.zero)
        private let sleeps = Locked<[Int]>([])

        var waits: [Int] { sleeps.value }

        var timer: LoginTimer {
            LoginTimer(
                now: { self.elapsed.value },
                sleep: { wait in
                    try Task.checkCancellation()
                    self.sleeps.change { $0.append(Int(wait.components.seconds)) }
                    self.elapsed.change { $0 += wait }
                })
        }
    }

    private static let code = "\"device_code\":\"d 1\",\"user_code\":\"WDJB-MJHT\""
    private static let uri = "\"verification_uri\":\"https://a.example/device\""

    private func read(_ json: String, status: Int = 200) throws(OnlineRefusal) -> DeviceAuthorization {
        try DeviceAuthorization(HTTPResponse(status: status, headers: [:], body: Array(json.utf8)))
    }

    @Test("the answer that begins a login has its defaults and its limits")
    func authorization() throws {
        let plain = try read("{\(Self.code),\(Self.uri),\"expires_in\":600}")
        #expect(plain.deviceCode == "d 1" && plain.interval == 5 && plain.life == 600)
        #expect(
            plain.step == .enter(code: "WDJB-MJHT", address: "https://a.example/device", whole: nil, seconds: 600))
        for (text, life) in [
            ("\"expires_in\":1801", 1800), ("\"expires_in\":1e99", 1800), ("\"expires_in\":\"60\"", 60),
            ("\"expires_in\":1.9", 1),
            ("\"x\":0", 1800), ("\"expires_in\":null", 1800),
        ] { #expect(try read("{\(Self.code),\(Self.uri),\(text)}").life == life, "\(text)") }
        for (text, interval) in [("1", 1), ("0", 1), ("-5", 1), ("\"7\"", 7), ("1e99", 1800), ("2.5", 2), ("null", 5)] {
            #expect(try read("{\(Self.code),\(Self.uri),\"interval\":\(text)}").interval == interval, "\(text)")
        }
        let google = try read("{\(Self.code),\"verification_url\":\"https://a.example/device\"}")
        #expect(google.address.text == "https://a.example/device")
        let whole = try read("{\(Self.code),\(Self.uri),\"verification_uri_complete\":\"https://a.example/device?c=W\"}")
        #expect(whole.whole?.text == "https://a.example/device?c=W")
    }

    @Test(
        "an answer that must not be shown, or whose code never counted, is refused",
        arguments: [
            "", "[]", "{}", "{\(uri)}", "{\"device_code\":\"d\",\(uri)}", "{\"user_code\":\"u\",\(uri)}", "{\(code)}",
            "{\"device_code\":\"\",\"user_code\":\"u\",\(uri)}", "{\"device_code\":\"d\",\"user_code\":\"\",\(uri)}",
            "{\"device_code\":\"d\",\"user_code\":\"ä\",\(uri)}", "{\"device_code\":\"d\",\"user_code\":\"a\\u001b[2J\",\(uri)}",
            "{\"device_code\":\"d\\n\",\"user_code\":\"u\",\(uri)}",
            "{\"device_code\":\"d\",\"user_code\":\"\(String(repeating: "u", count: 65))\",\(uri)}",
            "{\(code),\"verification_uri\":\"file:///etc/passwd\"}", "{\(code),\"verification_uri\":\"javascript:alert(1)\"}",
            "{\(code),\"verification_uri\":\"https://x/$(id)\"}", "{\(code),\"verification_uri\":\"-flag\"}",
            "{\(code),\"verification_uri\":\"http://a.example/\"}", "{\(code),\"verification_uri\":7}",
            "{\(code),\(uri),\"verification_uri_complete\":\"javascript:alert(1)\"}",
            "{\(code),\(uri),\"verification_uri_complete\":\"https://x/`id`\"}",
            "{\(code),\(uri),\"expires_in\":\"x\"}", "{\(code),\(uri),\"expires_in\":[]}", "{\(code),\(uri),\"interval\":{}}",
            "{\(code),\(uri),\"interval\":1e999}",
        ])
    func refusedAuthorization(_ json: String) {
        var refused: OnlineFailure?
        do throws(OnlineRefusal) { _ = try read(json) } catch {
            if case .failed(let failure, _, _) = error { refused = failure }
        }
        #expect(refused == .unexpectedAnswer)
    }

    @Test("a code without a life is expired")
    func expiredAtOnce() {
        for life in ["0", "-1", "-1e99", "0.5"] {
            #expect(throws: OnlineRefusal.failed(.codeExpired)) { try read("{\(Self.code),\(Self.uri),\"expires_in\":\(life)}") }
        }
    }

    @Test("the interval grows by five seconds on slow_down and doubles on time-outs, and ends with the code")
    func polling() throws {
        let code = try read("{\(Self.code),\(Self.uri),\"expires_in\":60,\"interval\":4}")
        var polling = DevicePolling(code, now: .seconds(1000))
        #expect(try polling.wait(now: .seconds(1000)) == .seconds(4))
        polling.slowDown()
        #expect(try polling.wait(now: .seconds(1010)) == .seconds(9))
        polling.backOff()
        #expect(try polling.wait(now: .seconds(1041)) == .seconds(18))
        // The interval does not fit any more: one last question, a second before the end.
        #expect(try polling.wait(now: .seconds(1042)) == .seconds(17))
        #expect(throws: OnlineRefusal.failed(.codeExpired)) { try polling.wait(now: .seconds(1059)) }
    }

    private func outcome(
        _ issuer: Issuer, _ clock: TestClock, _ person: Person, user: String? = nil, scopes: [String] = ["openid"],
        deadlines: OnlineDeadlines = patient, proof: ClientProof = ClientProof()
    ) async -> Result<NamedUser?, OnlineRefusal> {
        let oauth = issuer.service(scopes: scopes, BrowserLogin()).proving(proof)
        let provider = BrowserLoginProvider(
            OnlineService(.oauth(oauth), deadlines: deadlines), oauth, signer: FixedSigner(), timer: clock.timer)
        do throws(OnlineRefusal) {
            return .success(try await provider.logInByDevice(user: user, clientSecret: bytes(""), with: person).user)
        } catch { return .failure(error) }
    }

    private func says(_ error: String, _ status: Int = 400) -> Issuer.Told { .init("{\"error\":\"\(error)\"}", status: status) }

    private func tokens(_ issuer: Issuer, _ claims: Claims? = nil) throws -> Issuer.Told {
        let token = try SigningKey.p256.token(claims ?? Claims(issuer: issuer.name, nonce: nil))
        return .init("{\"access_token\":\"at-1\",\"refresh_token\":\"rt-1\",\"id_token\":\"\(token)\"}")
    }

    private func begin(_ issuer: Issuer, life: Int = 600, interval: Int = 7) async throws {
        try await issuer.publish()
        let whole = "\"verification_uri_complete\":\"\(issuer.url("activate?code=W"))\""
        try await issuer.tell(
            "device",
            .init(
                "{\(Self.code),\"verification_uri\":\"\(issuer.url("activate"))\",\(whole),\"expires_in\":\(life),\"interval\":\(interval)}"
            ))
    }

    @Test("a login waits as the server says, shows the code once, and names its user")
    func whole() async throws {
        let issuer = try await Issuer(), clock = TestClock(), person = Person { _, _ in }
        try await begin(issuer)
        try await issuer.tell(
            "token", says("authorization_pending"), says("slow_down"), says("authorization_pending"), .init("", status: 503),
            .init("", status: 429), says("authorization_pending"), tokens(issuer))
        #expect(await outcome(issuer, clock, person, user: "ada") == .success(NamedUser("ada", subject: "s-1")))
        #expect(clock.waits == [7, 7, 12, 12, 24, 29, 29])
        #expect(
            person.shown == [
                .enter(
                    code: "WDJB-MJHT", address: issuer.url("activate"), whole: issuer.url("activate?code=W"), seconds: 600)
            ])
        let seen = try issuer.asked()
        #expect(seen.first { $0.target == "/told/device" }?.body == "scope=openid&client_id=native")
        let polls = seen.filter { $0.target == "/told/token" }
        #expect(polls.count == 7)
        let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=d%201&client_id=native"
        #expect(polls.allSatisfy { $0.body == grant })
    }

    @Test("a login by a code that signs each question asks every five seconds at most")
    func signed() async throws {
        let issuer = try await Issuer()
        try await begin(issuer, interval: 1)
        for (proof, wait) in [(ClientProof(), 1), (ClientProof(key: "robot"), 5)] {
            let clock = TestClock()
            try await issuer.tell("token", says("authorization_pending"), tokens(issuer))
            let login = await outcome(issuer, clock, Person { _, _ in }, proof: proof)
            #expect(login == .success(NamedUser("ada", subject: "s-1")))
            #expect(clock.waits == [wait, wait])
        }
    }

    @Test("each refusal of the server ends the login, and the code's end does too")
    func refusals() async throws {
        let issuer = try await Issuer()
        try await begin(issuer, life: 20)
        let rows: [(Issuer.Told, OnlineRefusal)] = [
            (says("access_denied"), .forbidden(.accessDenied)), (says("expired_token"), .failed(.codeExpired)),
            (says("authorization_pending"), .failed(.codeExpired)), (says("slow_down"), .failed(.codeExpired)),
            (says("invalid_grant"), .failed(.invalidGrant, status: 400)),
            (says("invalid_client", 401), .failed(.invalidClient, status: 401)),
            (.init("no", status: 401), .failed(.invalidClient, status: 401)),
            (says("own_word"), .failed(.otherOAuthError, status: 400)), (.init("[]"), .failed(.unexpectedAnswer, status: 200)),
            (.init("", status: 500), .failed(.oauthServerError, status: 500)),
        ]
        for (answer, expected) in rows {
            try await issuer.tell("token", answer)
            #expect(await outcome(issuer, TestClock(), Person { _, _ in }) == .failure(expected))
        }
        try await issuer.tell("device", .init("no", status: 401))
        #expect(await outcome(issuer, TestClock(), Person { _, _ in }) == .failure(.failed(.invalidClient, status: 401)))
        try await issuer.tell("device", says("invalid_scope"))
        #expect(await outcome(issuer, TestClock(), Person { _, _ in }) == .failure(.failed(.invalidScope, status: 400)))
    }

    @Test("the tokens of another user are revoked, and a wrong ID token is refused")
    func dropped() async throws {
        let issuer = try await Issuer()
        try await begin(issuer)
        try await issuer.tell("token", tokens(issuer))
        #expect(await outcome(issuer, TestClock(), Person { _, _ in }, user: "grace") == .failure(.failed(.otherUser)))
        try await issuer.tell("token", tokens(issuer, Claims(issuer: issuer.name, nonce: nil).with("aud", "\"x\"")))
        #expect(await outcome(issuer, TestClock(), Person { _, _ in }) == .failure(.failed(.unusableIDToken)))
        let revoked = try issuer.asked().filter { $0.target == "/told/revoke" }
        #expect(revoked.count == 4)
    }

    @Test("a cancelled login ends while it waits")
    func cancelled() async throws {
        let issuer = try await Issuer()
        try await begin(issuer)
        try await issuer.tell("token", says("authorization_pending"))
        let (shown, isShown) = AsyncStream<Void>.makeStream()
        let person = Person { _, _ in isShown.yield() }
        let oauth = issuer.service(BrowserLogin())
        let provider = BrowserLoginProvider(OnlineService(.oauth(oauth), deadlines: patient), oauth)
        let login = Task {
            await refusal { () async throws(OnlineRefusal) in
                try await provider.logInByDevice(user: nil, clientSecret: bytes(""), with: person)
            }
        }
        for await _ in shown { break }
        login.cancel()
        #expect(await login.value == .failed(.cancelled))
    }
}
