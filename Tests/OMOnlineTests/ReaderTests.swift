// Tables for the small readers of servers' answers.

import Foundation
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("Readers of servers' answers") struct ReaderTests {
    private func address(_ text: String) throws -> EndpointURL { try #require(EndpointURL(reading: text)) }

    @Test("a date is read in each of HTTP's spellings, and other text is refused")
    func dates() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun, 06-Nov-1994 08:49:37 GMT",
        ] {
            #expect(HTTPDate.seconds(text) == 784_111_777, "\(text)")
        }
        #expect(HTTPDate.seconds("Thu, 29 Feb 2024 00:00:00 GMT") == 1_709_164_800)
        #expect(HTTPDate.seconds("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
        for text in [
            "", "Sun", "06 Nov 08:49:37", "30 Feb 2024 00:00:00", "29 Feb 2023 00:00:00", "06 Nov 1994 24:00:00",
            "06 Nov 1994 08:60:37", "00 Nov 1994 08:49:37", "06 Nov 1994 08:49", "06 Nov 1969 08:49:37",
            "06 Nov 1994 8:4:x", String(repeating: "1", count: 65),
        ] {
            #expect(HTTPDate.seconds(text) == nil, "\(text)")
        }
    }

    @Test("Retry-After is seconds, or a date compared with the server's own clock, and never more than a day")
    func retryAfter() {
        let date = HTTPDate.seconds("Sun, 06 Nov 1994 08:49:37 GMT")
        for (text, expected) in [
            ("120", 120), ("0", 0), (" 7", 7), ("86401", 86_400), ("99999999999999999999", 86_400),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("soon", nil), ("-1", nil),
            ("", nil), ("1.5", nil),
        ] as [(String, UInt32?)] {
            #expect(HTTPDate.retryAfter(text, date: date, now: 0) == expected, "\(text)")
        }
    }

    @Test("a cookie goes back to its own host and path, over TLS if it says so, and until it ends")
    func cookies() throws {
        let here = try address("https://login.example.com/app/login")
        var jar = CookieJar()
        try jar.store(
            [
                "plain=1", "root=2; Path=/", "wide=3; Domain=.Example.com; Path=/", "secure=4; Secure; Path=/",
                "late=5; Max-Age=60; Path=/", "dated=6; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Path=/",
                "foreign=7; Domain=other.example; Path=/", "top=8; Domain=com; Path=/", "=9", "no-equals",
                "line=a\u{7}b; Path=/", "twice=1; Path=/", "twice=2; Path=/", "empty=; Path=/",
            ], from: here, now: 1_000)
        func field(_ text: String, now: Int64 = 1_001) throws -> String? { jar.field(for: try address(text), now: now) }
        #expect(
            try field("https://login.example.com/app/x")
                == "plain=1; root=2; wide=3; secure=4; late=5; dated=6; twice=2; empty=")
        #expect(try field("https://login.example.com/application")?.contains("plain") == false)
        #expect(try field("http://login.example.com/")?.contains("secure") == false)
        #expect(try field("https://other.example.com/") == "wide=3")
        #expect(try field("https://notexample.com/") == nil)
        #expect(try field("https://login.example.com/", now: 1_060)?.contains("late") == false)
        #expect(try field("https://login.example.com/", now: 784_111_777)?.contains("dated") == false)
        // A time too long to count is endless, and not over.
        for age in ["9223372036854775807", "9223372036854775808", "99999999999999999999999"] {
            try jar.store(["long=1; Max-Age=\(age); Path=/"], from: here, now: 1_000)
            #expect(try field("https://login.example.com/")?.contains("long=1") == true, "\(age)")
        }
        try jar.store(["long=; Max-Age=-99999999999999999999999; Path=/"], from: here, now: 1_000)
        #expect(try field("https://login.example.com/")?.contains("long") == false)
        #expect(jar.holds(["root", "twice"]) && !jar.holds(["empty"]) && !jar.holds(["Root"]))
        try jar.store(["root=; Max-Age=0; Path=/"], from: here, now: 1_000)
        #expect(!jar.holds(["root"]))
        var numeric = CookieJar()
        try numeric.store(["a=1; Domain=0.0.1"], from: try address("https://127.0.0.1/"), now: 0)
        #expect(numeric.cookies.isEmpty)
    }

    @Test("a redirect is resolved as a browser does, and an invalid address leads nowhere")
    func locations() throws {
        let here = try address("https://localhost:8443/app/login?x=1")
        for (location, expected) in [
            ("/other", "https://localhost:8443/other"), ("next", "https://localhost:8443/app/next"),
            ("?y=2", "https://localhost:8443/app/login?y=2"), ("//elsewhere.example/a", "https://elsewhere.example/a"),
            ("https://localhost:8443", "https://localhost:8443/"), ("http://localhost:8443/", "http://localhost:8443/"),
            ("/a#part", "https://localhost:8443/a"), ("javascript:alert(1)", nil), ("https://a@b/", nil),
            ("ftp://localhost/", nil), ("https://\\evil.example/", nil),
        ] as [(String, String?)] {
            #expect(here.resolving(location)?.text == expected, "\(location)")
        }
        #expect(try !here.hasOrigin(of: address("https://localhost/")))
        #expect(try address("https://LOCALHOST:443/").hasOrigin(of: address("https://localhost")))
    }

    @Test("only an exact statement of the server blocks an account, not a text that quotes a user name")
    func blocked() {
        for (error, description, expected) in [
            ("invalid_grant", "Account disabled", true), ("invalid_grant", "User account is locked.", true),
            ("invalid_grant", "  account   IS  locked ", true), ("account_locked", nil, true),
            ("invalid_grant", "AADSTS50053: The account is locked", true),
            ("invalid_grant", "AADSTS50057: Das Benutzerkonto ist deaktiviert.", true),
            ("invalid_grant", "AADSTS50126: Error validating credentials", false),
            ("invalid_grant", "Invalid user credentials", false), ("invalid_grant", nil, false),
            ("invalid_grant", "No user 'account disabled'", false), ("invalid_grant", "x AADSTS50053:", false),
        ] as [(String, String?, Bool)] {
            #expect(TokenResponse.saysBlocked(error, description) == expected, "\(error) \(description ?? "")")
        }
        for (description, expected) in [
            (nil, true), ("", true), (" ", true), ("Invalid user credentials", true), ("Bad Password", true),
            ("The provided authorization grant is invalid, expired, revoked, …", true),
            ("Invalid username or password.", true), ("Account is not fully set up", false), ("Consent required", false),
            ("AADSTS50076: you must use multi-factor authentication", false),
            // The number decides, not the words. The first of these two says nothing about the password, the second does.
            ("AADSTS50055: The password is expired.", false),
            ("AADSTS50126: Fehler beim Überprüfen der Anmeldeinformationen", true),
            ("AADSTS: The password is wrong", true), ("AADSTSx: Falsch", false),
        ] as [(String?, Bool)] {
            #expect(TokenResponse.saysWrongPassword(description) == expected, "\(description ?? "nil")")
        }
    }

    @Test("an application profile without an integer epoch and plain values is refused")
    func profiles() throws {
        func read(_ text: String) -> ServerProfile? { try? ApplicationProfile.read(Array(text.utf8)) }
        let all = read(
            #"{"epoch":7,"ApplicationName":"W","OfflineAuthAllowed":true,"MaxLoginAttempts":3,"CryptoScheme":"AES","#
                + #""LocationUpdateEnabled":"FALSE","LocationUpdateDistanceFilter":12.5,"Other":{"a":[null]}}"#)
        #expect(
            all
                == ServerProfile(
                    epoch: 7, application: "W",
                    values: [
                        "OfflineAuthAllowed": "true", "MaxLoginAttempts": "3", "CryptoScheme": "AES",
                        "LocationUpdateEnabled": "FALSE", "LocationUpdateDistanceFilter": "12.5",
                    ]))
        #expect(read(#"{"epoch":0}"#) == ServerProfile(epoch: 0, values: [:]))
        #expect(read(#"{"epoch":9007199254740991}"#)?.epoch == 9_007_199_254_740_991)
        // The value is kept as written. The ledger checks whether the key accepts the number.
        #expect(read(#"{"epoch":1,"MaxLoginAttempts":7e0}"#)?.values == ["MaxLoginAttempts": "7e0"])
        #expect(read(#"{"epoch":1,"MaxLoginAttempts":3.0}"#)?.values == ["MaxLoginAttempts": "3.0"])
        for text in [
            "", "{}", "[]", "null", #"{"epoch":1.5}"#, #"{"epoch":-1}"#, #"{"epoch":"1"}"#, #"{"epoch":true}"#,
            #"{"epoch":1e300}"#, #"{"epoch":7e0}"#, #"{"epoch":7.0}"#, #"{"epoch":9007199254740992}"#, #"{"epoch":01}"#,
            #"{"epoch":6,"epoch":1}"#, #"{"epoch":1,"MaxLoginAttempts":1,"MaxLoginAttempts":9}"#,
            #"{"epoch":1,"other":1,"other":1}"#, #"{"epoch":1,"other":01}"#, #"{"epoch":1,"other":1.}"#,
            #"{"epoch":1,"other":--1}"#, #"{"epoch":1,"other":1e}"#, #"{"epoch":1,"MaxLoginAttempts":null}"#,
            #"{"epoch":1,"MaxLoginAttempts":[3]}"#, #"{"epoch":1,"CryptoScheme":null}"#,
            #"{"epoch":1,"ApplicationName":""}"#, #"{"epoch":1,"ApplicationName":3}"#, #"{"epoch":1}x"#,
            #"{"epoch":1,"CryptoScheme":""# + String(repeating: "a", count: 257) + #""}"#,
        ] {
            #expect(read(text) == nil, "\(text.prefix(40))")
        }
    }

    @Test("the profile comes only over TLS from the login's own host, with the login or by itself")
    func profileFetch() async throws {
        let server = try await Server.nginx.value
        func service(_ profile: String) -> OnlineService {
            OnlineService(
                .basic(BasicService(login: server.url("/login"))), trusted: server.ca, profile: profile,
                deadlines: patient)
        }
        func refused(_ profile: String) async -> OnlineRefusal? {
            do throws(OnlineRefusal) {
                _ = try await ApplicationProfile.fetch(service(profile))
                return nil
            } catch { return error }
        }
        let fetched = try await ApplicationProfile.fetch(service(server.url("/profile")))
        #expect(fetched.epoch == 7 && fetched.application == "WhitePages" && fetched.values["MaxLoginAttempts"] == "3")
        #expect(await refused(server.url("/profile", "plain", scheme: "http")) == .failed(.unsafeAddress))
        #expect(await refused(server.url("/profile", host: "127.0.0.1")) == .failed(.unusableProfile))
        #expect(await refused(server.url("/profile", "port_name")) == .untrusted(.name))
        #expect(await refused(server.url("/profile-bad")) == .failed(.unusableProfile))
        #expect(await refused(server.url("/profile-big")) == .failed(.answerTooLarge))
        #expect(await refused(server.url("/status/404")) == .failed(.unexpectedAnswer, status: 404))
        #expect(await refused(server.url("/status/401")) == .failed(.unusableProfile, status: 401))
        #expect(await refused(server.url("/here")) == .failed(.redirected, status: 302))

        let password = bytes("correct horse 42")
        let grant = try await basic(server.url("/login"), trusted: server.ca, profile: server.url("/profile"))
            .logIn("alice", password: password)
        #expect(grant.profile.profile?.epoch == 7)
        for (path, refusal) in [
            ("/profile-bad", .failed(.unusableProfile)), ("/status/401", .failed(.unusableProfile, status: 401)),
            ("/status/500", .failed(.serverError, status: 500)), ("/status/503", .unreachable(.gateway)),
        ] as [(String, OnlineRefusal)] {
            let provider = basic(server.url("/login"), trusted: server.ca, profile: server.url(path))
            let grant = try await provider.logIn("alice", password: password)
            #expect(grant.profile == .missing(refusal), "\(path)")
        }
    }

    /// The test asks only for the profile, with a deadline that a login on a busy machine would miss. The only possible result
    /// is a time-out, of the connection or of the answer.
    @Test("a profile address that hangs delays a login by at most the connect time, and is reported")
    func hangingProfile() async throws {
        let server = try await Server.odd.value
        let service = BasicService(login: server.url("/login", "https"))
        let asked = OnlineService(
            .basic(service), trusted: server.ca, profile: server.url("/hanging", "https"),
            deadlines: OnlineDeadlines(connect: 1_000, total: 600_000))
        let exchange = try HTTPExchange(asked)
        let answer = await ApplicationProfile.fetchIfAny(asked, exchange)
        #expect(answer == .missing(.unreachable(.timedOut)))
    }
}
