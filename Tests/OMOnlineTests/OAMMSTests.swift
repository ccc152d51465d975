// The Mobile and Social service against the golden pairs. docs/reference/online.md, "Mobile and Social".

import Foundation
import OMJSON
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("The Mobile and Social service") struct OAMMSTests {
    @Test("a mobile service: profile, registration, login, check and logout are the golden requests")
    func mobile() async throws {
        let peer = try await GoldenPeer(["4", "6", "8"])
        let provider = peer.provider()
        let grant = try await provider.grant()
        #expect(
            grant.profile
                == .given(
                    ServerProfile(
                        epoch: 7, application: "WhitePages",
                        values: [
                            "OfflineAuthAllowed": "true", "MaxLoginAttempts": "3", "CryptoScheme": "SaltedSHA-256",
                            "LocationUpdateEnabled": "500",
                        ])))
        #expect(grant.lifetime == nil && abs((grant.serverTime ?? 0) - UnixTime.now()) < 60)
        #expect(try peer.seen() == ["4", "6", "8"])

        try peer.expect(["13", "15", "15", "13b"])
        let session = try grant.newSession()
        _ = try await provider.check(session)
        _ = try await provider.logOut(session)
        // The session is over, whether it was over before or not.
        _ = try await provider.logOut(session)
        let over = await refusal { () async throws(OnlineRefusal) in try await provider.check(session) }
        #expect(over == .rejected)
        #expect(try peer.seen() == ["13", "15", "15", "13b"])
    }

    @Test("a service without registration gets the password in one request, and over http its policy does not count")
    func direct() async throws {
        let peer = try await GoldenPeer(["4-intranet", "1", "12", "12b"])
        let provider = peer.provider("Intranet", secure: false)
        let grant = try await provider.grant()
        #expect(grant.profile == .notAsked && grant.serverTime == nil)
        let session = try grant.newSession()
        _ = try await provider.check(session)
        let over = await refusal { () async throws(OnlineRefusal) in try await provider.check(session) }
        #expect(over == .rejected)
        // The profile names no address for a logout, and none is guessed.
        let untold = await refusal { () async throws(OnlineRefusal) in try await provider.logOut(session) }
        #expect(untold == .failed(.noLogout))
        #expect(try peer.seen() == ["4-intranet", "1", "12", "12b"])
    }

    @Test("a wrong password is rejected, and a service or an application that is missing is not")
    func refusals() async throws {
        let peer = try await GoldenPeer(["4-intranet", "2", "4", "6-wrong", "4-nosuch", "3", "5"])
        #expect(await peer.provider("Intranet").refusal("wrong") == .rejected)
        #expect(await peer.provider().refusal("wrong") == .rejected)
        let missing = OnlineRefusal.failed(.noService, status: 404)
        #expect(await peer.provider("Intranet").refusal() == missing)
        #expect(await peer.provider("Nope").refusal() == missing)
        #expect(!missing.isDecision && missing.sdkCode == 10005)
        #expect(try peer.seen() == ["4-intranet", "2", "4", "6-wrong", "4-nosuch", "3", "5"])
    }

    @Test("without a name, or with a password that JSON cannot carry, nothing is sent; pair 7 is never a client's request")
    func nothingSent() async throws {
        let peer = try await GoldenPeer([])
        let provider = peer.provider()
        #expect(await provider.refusal(user: "") == .failed(.unusableUser))
        #expect(await provider.refusal("") == .failed(.unusablePassword))
        #expect(try peer.seen() == [])
        let secret = SecretBytes(copying: [0x70, 0xFF])
        do throws(OnlineRefusal) {
            _ = try await provider.logIn("ana", password: secret)
            Issue.record("accepted")
        } catch { #expect(error == .failed(.unusablePassword)) }
        #expect(try peer.seen() == [])
        #expect(try GoldenPair.all()["7"]?.answer.status == 401)
    }

    @Test("a dead handle is replaced once, and then the login ends with 129")
    func deadHandle() async throws {
        let peer = try await GoldenPeer(["4", "6-old", "9", "6", "8"])
        let provider = peer.provider()
        #expect(await provider.refusal() == nil)
        #expect(try peer.seen() == ["4", "6-old", "9", "6", "8"])
        let twice = ["4", "6-old", "9", "6-old", "9"]
        try peer.expect(twice)
        let refused = await provider.refusal()
        #expect(refused == .failed(.handleRefused, status: 401) && refused?.sdkCode == 129)
        #expect(try peer.seen() == twice)
        // Without the server's word, 401 to a password that the registration has just accepted is about the handle.
        try peer.expect(["4", "6-old", "9", "@oicErrorCode", "6", "8"])
        #expect(await provider.refusal() == nil)
        // With the server's word for a wrong password it is about the password.
        try peer.expect(["4", "6", "8", "/401", "@oicErrorCode \"IDAAS-90001\""])
        #expect(await provider.refusal() == .rejected)
        #expect(try peer.seen() == ["4", "6", "8"])
    }

    @Test("the server's questions are answered in the same request, at the registration or at the login")
    func questions() async throws {
        let peer = try await GoldenPeer(["4", "6", "8-asked", "4", "8-answered"])
        let provider = peer.provider()
        let (texts, state) = try await provider.logIn("ana", password: bytes(GoldenPeer.password)).question()
        #expect(texts == ["The name of your first school?"])
        let isGranted = try await provider.answer(
            bytes("Grüne Schule\n"), to: state.bytes, user: "ana", password: bytes(GoldenPeer.password)
        ).grant().hasSession()
        #expect(isGranted)
        #expect(try peer.seen() == ["4", "6", "8-asked", "4", "8-answered"])

        let early = ["4", "6-asked", "4", "6-answered", "8"]
        try peer.expect(early)
        let first = try await provider.logIn("ana", password: bytes(GoldenPeer.password)).question().state
        let isGrantedLater = try await provider.answer(
            bytes("Grüne Schule\n"), to: first.bytes, user: "ana", password: bytes(GoldenPeer.password)
        ).grant().hasSession()
        #expect(isGrantedLater)
        #expect(try peer.seen() == early)
    }

    @Test(
        "a wrong answer is no wrong password, and the password is not sent again",
        arguments: [["8-wrong-answer"], ["8-asked-again"], ["8-wrong-answer", "@oicErrorCode"]])
    func wrongAnswer(script: [String]) async throws {
        let peer = try await GoldenPeer(["4", "6", "8-asked", "4"] + script)
        let provider = peer.provider()
        let state = try await provider.logIn("ana", password: bytes(GoldenPeer.password)).question().state
        do throws(OnlineRefusal) {
            let answers = bytes("wrong\n")
            let password = bytes(GoldenPeer.password)
            _ = try await provider.answer(answers, to: state.bytes, user: "ana", password: password)
            Issue.record("accepted")
        } catch { #expect(error == .failed(.challenge, status: 401) && error.sdkCode == 10408 && !error.isDecision) }
        #expect(try peer.seen() == ["4", "6", "8-asked", "4", script[0]])
    }

    @Test(
        "a challenge of an unknown form or kind ends the login, and the password is not sent again",
        arguments: [
            "\"yes\"", "{}", "[]", #"{"handle":"c","questions":[]}"#, #"{"handle":"c","questions":[{}]}"#,
            #"{"handle":"c","questions":[{"challengeType":1,"questionRefId":"q","questionStr":"x"}]}"#,
            #"{"handle":"c","questions":[{"challengeType":"SMS","questionRefId":"q","questionStr":"x"}]}"#,
            #"{"handle":"c","questions":[{"challengeType":0,"questionRefId":"q","questionStr":""}]}"#,
            #"{"handle":"c","questions":[{"challengeType":0,"questionRefId":"q","questionStr":"a\u001b[2Jb"}]}"#,
            #"{"handle":"c","questions":[{"challengeType":0,"questionRefId":"q","questionStr":"a\u202eb"}]}"#,
            #"{"questions":[{"challengeType":0,"questionRefId":"q","questionStr":"x"}]}"#,
        ])
    func unknownChallenge(challenge: String) async throws {
        let peer = try await GoldenPeer(["4", "6", "8-asked", "@challenge " + challenge])
        #expect(await peer.provider().refusal() == .failed(.challenge, status: 401))
        #expect(try peer.seen() == ["4", "6", "8-asked"])
        // The same with success: the answer has no token that counts.
        try peer.expect(["4", "6", "8-asked", "/200", "@challenge " + challenge])
        #expect(await peer.provider().refusal() == .failed(.challenge, status: 200))
        #expect(try peer.seen() == ["4", "6", "8-asked"])
    }

    @Test("the answers must be as many as the questions")
    func answerCount() throws {
        let json = try JSON(
            parsing: Array(
                #"{"handle":"c","questions":[{"challengeType":"KBA","questionRefId":"q","questionStr":"x"}]}"#.utf8
            ).span)
        let challenge = try #require(KnowledgeChallenge(json))
        func reply(_ text: String) throws -> String {
            let body = try challenge.reply(bytes(text))
            return body.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        }
        #expect(
            try reply("a\"\\\u{1}b\n")
                == #"{"handle":"c","answers":[{"answerStr":"a\"\\\u0001b","challengeType":"KBA","questionRefId":"q"}]}"#)
        for wrong in ["", "a", "a\nb\n", "a\nb"] {
            #expect(throws: OnlineRefusal.failed(.challenge), "\(wrong)") { try reply(wrong) }
        }
    }

    @Test("an access token for the context of a gate's refusal, a dead handle and a deleted token")
    func accessToken() async throws {
        let pairs = try GoldenPair.all()
        let field = try #require(pairs["10"]?.answer.headers?["WWW-Authenticate"])
        let challenge = try #require(GateChallenge(field))
        let peer = try await GoldenPeer(["4", "6", "8", "11", "11-old", "11-gone"])
        let provider = peer.provider()
        let session = try await provider.grant().newSession()
        let token = try await provider.accessToken(session, for: challenge, resource: "https://app.example/res")
        #expect(token.isEqual(to: bytes("at1")) && pairs["11b"]?.request.headers["Authorization"] == "OAM-Auth at1")
        for refusal in [OnlineRefusal.failed(.handleRefused, status: 401), .rejected] {
            do throws(OnlineRefusal) {
                _ = try await provider.accessToken(session, for: challenge, resource: "https://app.example/res")
                Issue.record("accepted")
            } catch { #expect(error == refusal) }
        }
        #expect(try peer.seen() == ["4", "6", "8", "11", "11-old", "11-gone"])
    }

    @Test("a gate's refusal is read strictly")
    func gate() {
        #expect(GateChallenge(#"OAM-Auth realm="wg1:2/res", request-ctx="a%3D""#)?.context == "a%3D")
        #expect(GateChallenge(#"oam-auth request-ctx="a",realm="""#)?.context == "a")
        for wrong in [
            #"Basic realm="x", request-ctx="a""#, #"OAM-Auth realm="x""#, #"OAM-Auth request-ctx="a""#, "OAM-Auth", "",
            #"OAM-Auth realm="x", request-ctx="""#, #"OAM-Auth realm="x", request-ctx="a", request-ctx="b""#,
            #"OAM-Auth realm="x", request-ctx="a"#, #"OAM-Auth realm="x", request-ctx=a"#,
            #"OAM-Auth realm="x", request-ctx="a" b"#,
        ] {
            #expect(GateChallenge(wrong) == nil, "\(wrong)")
        }
    }

    /// The statuses of docs/reference/online.md, "Meaning of an answer", with what is different here.
    private static let statuses: [(Int, OnlineRefusal)] = [
        (400, .failed(.unexpectedAnswer, status: 400)), (403, .forbidden(.status)), (404, .failed(.noService, status: 404)),
        (405, .failed(.unexpectedAnswer, status: 405)), (423, .forbidden(.status)),
        (429, .failed(.tooManyRequests, status: 429)), (500, .failed(.serverError, status: 500)),
        (502, .unreachable(.gateway)), (503, .unreachable(.gateway)), (302, .failed(.redirected, status: 302)),
        (307, .failed(.redirected, status: 307)),
    ]

    @Test("the meaning of a status, at the registration, at the login and at the profile", arguments: statuses)
    func status(status: Int, refusal: OnlineRefusal) async throws {
        let peer = try await GoldenPeer(["4", "6", "/\(status)"])
        #expect(await peer.provider().refusal() == refusal)
        try peer.expect(["4", "6", "8", "/\(status)"])
        #expect(await peer.provider().refusal() == refusal)
        try peer.expect(["4", "/\(status)"])
        let ofProfile = await peer.provider().refusal()
        // The request for the profile has no password, so no answer to it is about one.
        #expect(refusal.isDecision ? ofProfile == .failed(.unusableProfile, status: UInt16(status)) : ofProfile == refusal)
        #expect(try peer.seen() == ["4"])
    }

    @Test("a server that has the password and then refuses connections counts as a server that was reached")
    func leaving() async throws {
        let late = try await GoldenPeer(["4", "6", "!"])
        #expect(await late.provider().refusal() == .failed(.brokenAnswer))
        #expect(try late.seen() == ["4", "6"])
        // Before the password it was not reached.
        let early = try await GoldenPeer(["4", "!"])
        #expect(await early.provider().refusal() == .unreachable(.refused))
        #expect(try early.seen() == ["4"])
        // Between a question and the answer to it.
        let peer = try await GoldenPeer(["4", "6", "8-asked", "!"])
        let state = try await peer.provider().logIn("ana", password: bytes(GoldenPeer.password)).question().state
        do throws(OnlineRefusal) {
            let answers = bytes("Grüne Schule\n")
            let password = bytes(GoldenPeer.password)
            _ = try await peer.provider().answer(answers, to: state.bytes, user: "ana", password: password)
            Issue.record("accepted")
        } catch { #expect(error == .failed(.brokenAnswer)) }
        #expect(try peer.seen() == ["4", "6", "8-asked"])
    }

    @Test("an answer without the token that was asked for is no login")
    func noToken() async throws {
        for change in ["Type \"ACCESSTOKEN\"", "Type", "Value", "Value \"\"", "Value 7"] {
            let peer = try await GoldenPeer(["4", "6", "8", "@X-Idaas-Rest-Token-" + change])
            #expect(await peer.provider().refusal() == .failed(.unexpectedAnswer, status: 200), "\(change)")
            #expect(try peer.seen() == ["4", "6", "8"])
        }
    }

    @Test("the server learns the system and nothing about the device, its user or its place, whatever it asks for")
    func claims() async throws {
        let wanted = [
            "udid", "imei", "macaddress", "phonenumber", "iosidforvendor", "iosidforad", "hardwareIds", "geolocation", "locale",
            "oracle:idm:claims:client:fingerprint", "networktype", "phonecarriername", "ipaddress", "vpnenabled", "jailbroken",
            "hostname", "oracle:idm:claims:client:imei",
        ]
        let prefix = "oracle:idm:claims:client:"
        let json = try JSON(parsing: Array(GoldenPeer.phone.profile(wanted).utf8).span)
        #expect(
            json.members == [
                prefix + "ostype": .string("iOS"), prefix + "osversion": .string("8.1"),
                prefix + "sdkversion": .string("11.1.2.3.0"), "hardwareIds": .object([:]),
                prefix + "geolocation": .string("UNKNOWN"), prefix + "locale": .string("UNKNOWN"),
                prefix + "fingerprint": .string("UNKNOWN"), prefix + "networktype": .string("UNKNOWN"),
                prefix + "phonecarriername": .string("UNKNOWN"), prefix + "ipaddress": .string("UNKNOWN"),
            ])
        // What omvault itself sends, in a real login.
        let own = DeviceClaims.own
        #expect(own.system == "Linux" && own.version.contains(/^(\d+\.\d+|UNKNOWN)$/))
        let peer = try await GoldenPeer(["linux", "4", "6", "8"])
        _ = try await peer.provider(device: .own).grant()
        #expect(try peer.seen() == ["4", "6", "8"])
        let raw = try peer.raw()
        let machine = (try? String(contentsOfFile: "/etc/machine-id", encoding: .utf8))?.split(separator: "\n").first
        for name in [ProcessInfo.processInfo.hostName, machine.map(String.init) ?? "none-here", NSUserName()]
        where name.count > 4 && name != "localhost" {
            #expect(!raw.contains(name), "\(name)")
        }
        // The password is in the two requests that need it, and in no address.
        #expect(raw.components(separatedBy: GoldenPeer.password).count == 3)
    }

    @Test("headers of the profile are sent along, and cannot replace the service's own")
    func headers() async throws {
        let more = ["+X-Extra: yes", "+X-IDAAS-SERVICEDOMAIN: Other", "+X-Idaas-Rest-Authorization: mine"]
        let peer = try await GoldenPeer(["4"] + more + ["6"] + more + ["8"] + more)
        let own: [OnlineService.Header] = [
            .init("X-Extra", "yes"), .init("X-IDAAS-SERVICEDOMAIN", "Other"), .init("X-Idaas-Rest-Authorization", "mine"),
        ]
        #expect(await peer.provider(headers: own).refusal() == nil)
        #expect(try peer.seen() == ["4", "6", "8"])
    }

    @Test("a session of another server, or of another kind of server, is not used")
    func otherSession() async throws {
        let peer = try await GoldenPeer(["4", "6", "8"])
        let session = try await peer.provider().grant().newSession()
        let other = try await GoldenPeer([])
        let unusable = OnlineRefusal.failed(.unusableSession)
        let provider = other.provider()
        let cookies = try ServerSession.cookies(CookieJar()).sealable()
        #expect(await refusal { () async throws(OnlineRefusal) in try await provider.check(session) } == unusable)
        #expect(await refusal { () async throws(OnlineRefusal) in try await provider.logOut(session) } == unusable)
        #expect(await refusal { () async throws(OnlineRefusal) in try await provider.check(cookies) } == unusable)
        #expect(try other.seen() == [])
    }
}
