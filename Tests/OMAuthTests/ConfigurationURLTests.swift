// The SDK's configuration URLs: its rules, and the result of hostile URLs.

import Testing

@testable import OMAuth

@Suite struct ConfigurationURLTests {
    private static let example = """
        wp://settings?AuthServerType::=OAMMSAuthentication&OAMMSURL::=http://host123.us.example.com:14100\
        &OAMMSServiceDomain::=MobileServiceDomain&ApplicationName::=WhitePages
        """

    private func problem(
        _ text: String, _ pairs: ConfigurationURL.PairSyntax = .sdk, filter: Set<ProfileKey> = []
    ) -> ProfileProblem? {
        do throws(AuthError) {
            _ = try ConfigurationURL(text, pairs: pairs, filter: filter)
            return nil
        } catch {
            if case .profile(let problem) = error { return problem }
            return .malformed
        }
    }

    private func values(_ query: String, _ pairs: ConfigurationURL.PairSyntax = .sdk) throws -> [ProfileKey: ProfileValue] {
        try ConfigurationURL("wp://settings?" + query, pairs: pairs).values
    }

    @Test("the SDK's example gives its four keys, and a filter of two keys gives those two")
    func example() throws {
        let url = try ConfigurationURL(Self.example)
        #expect(url.scheme == "wp" && url.host == "settings" && url.omissions.isEmpty)
        #expect(
            url.values == [
                .authServerType: .text("OAMMSAuthentication"), .oammsURL: .text("http://host123.us.example.com:14100"),
                .oammsServiceDomain: .text("MobileServiceDomain"), .applicationName: .text("WhitePages"),
            ])
        let two = try ConfigurationURL(Self.example, filter: [.oammsURL, .applicationName])
        #expect(Set(two.values.keys) == [.oammsURL, .applicationName])
        #expect(two.omissions == [.init(part: 1, reason: .filtered), .init(part: 3, reason: .filtered)])
        #expect(try url.profile(ProfileName("p")).serverKind == .oamms)
    }

    @Test("a part without exactly two pieces is skipped, and reported by its number only")
    func skipped() throws {
        let url = try ConfigurationURL("a://?a=b&LimitMode::=b::=c&&::=x&LimitMode::=strict&LimitMode")
        #expect(url.values == [.limitMode: .text("strict")] && url.host == "")
        #expect(url.omissions == [1, 2, 3, 4, 6].map { .init(part: $0, reason: .notAPair) })
        #expect(problem("a://b?a=b") == .nothingToImport)
        #expect(problem("a://b?LimitMode::=strict", filter: [.loginURL]) == .nothingToImport)
        #expect(problem("a://b?") == .urlWithoutQuery && problem("a://b") == .urlWithoutQuery)
        #expect(ProfileProblem.urlWithoutQuery.sdkCode == 10407)
        // The text after # is no part of the query.
        #expect(try values("LimitMode::=strict#&MaxLoginAttempts::=9").count == 1)
    }

    @Test("values get the SDK's types, and lost values are reported")
    func typing() throws {
        let url = try ConfigurationURL(
            "a://?OfflineAuthAllowed::=tRuE&SessionActiveOnRestart::=yes&RequiredTokens::=A,B&CustomAuthHeaders::=a:b,c,d:e:f,g:h"
                + "&MaxLoginAttempts::=5")
        #expect(url.values[.offlineAuthAllowed] == .bool(true) && url.values[.sessionActiveOnRestart] == .bool(false))
        #expect(url.values[.customAuthHeaders] == .text("a:b,g:h"))
        #expect(url.omissions == [.init(part: 2, reason: .takenForFalse), .init(part: 4, reason: .malformedHeader)])
        let profile = try url.profile(ProfileName("p"))
        #expect(profile.requiredTokens == ["A", "B"] && profile.maxLoginAttempts == 5)
        #expect(throws: AuthError.profile(.value(.maxLoginAttempts))) {
            try ConfigurationURL("a://?MaxLoginAttempts::=5x").profile(ProfileName("p"))
        }
    }

    @Test("the first form decodes percent signs in addresses and scopes only, and the second form decodes all values")
    func decoding() throws {
        let one = try values("LoginURL::=https%3A%2F%2Fa%2F%3Fb%26c&OAuthScope::=a%2Cb&ApplicationName::=A%20B")
        #expect(one[.loginURL] == .text("https://a/?b&c") && one[.oauthScope] == .text("a,b"))
        #expect(one[.applicationName] == .text("A%20B"))
        let two = try values("LoginURL=https%3A%2F%2Fa%2F&ApplicationName=A%20%C3%A9=b&Limit%4Dode=strict", .components)
        #expect(two[.loginURL] == .text("https://a/") && two[.applicationName] == .text("A é=b"))
        #expect(two[.limitMode] == .text("strict"))
        for query in ["LoginURL::=%", "LoginURL::=%4", "LoginURL::=%zz", "LoginURL::=%FF", "OAuthTokenEndpoint::=%C0%AF"] {
            #expect(problem("a://?" + query) == .malformedURL, "\(query)")
        }
    }

    @Test("a text that is not one URL of its kind is refused")
    func malformed() throws {
        for text in [
            "", "?", "a", "://a?b", "1a://b?c", "a b://c?d", "wp:/settings?LimitMode::=strict", "LimitMode::=strict",
            "a://b?LimitMode::=strict ", "a://b?LimitMode::=str ict", "a://b\n?LimitMode::=strict", "a://é?LimitMode::=strict",
            "a://b?LimitMode::=\u{0}", "a://b?" + String(repeating: "LimitMode::=strict&", count: 4000),
            "a://b?" + String(repeating: "&", count: 256), String(repeating: "a", count: 65) + "://b?LimitMode::=strict",
        ] { #expect(problem(text) == .malformedURL, "\(text.prefix(60).debugDescription)") }
        #expect(problem("a://?Foo::=1&LimitMode::=strict") == .unknownKey("Foo"))
        #expect(problem("a://?Foo::=1&LimitMode::=strict", filter: [.limitMode]) == nil)
        #expect(problem("a://?LimitMode::=strict&LimitMode::=exceeds") == .repeatedKey(.limitMode))
        #expect(problem("a://?OAuthScope::=a&OAuthScopes::=b") == .repeatedKey(.oauthScope))
        #expect(problem("a://?\(String(repeating: "k", count: 65))::=1") == .malformed)
        #expect(problem("a://?Limit%00Mode=1", .components) == .malformed)
    }

    @Test("an endpoint at another server than the token endpoint's needs the user's consent")
    func foreignEndpoints() throws {
        func dangers(_ key: String, _ host: String) throws -> [ImportDanger] {
            var pairs = [
                "AuthServerType": "OAuthAuthentication", "OAuthAuthZGrantType": "OAuthAuthorizationCode", "OAuthClientID": "c",
                "OAuthTokenEndpoint": "https://id.example/t", "OAuthRedirectEndpoint": "http://127.0.0.1",
                "OAuthAuthZEndpoint": "https://id.example/a",
            ]
            pairs[key] = "https://\(host)/x"
            let text = "a://?" + pairs.map { "\($0.key)::=\($0.value)" }.joined(separator: "&")
            return try ConfigurationURL(text).profile(ProfileName("p")).importDangers().map(\.danger)
        }
        for key in [
            "OAuthAuthZEndpoint", "OAuthDeviceEndpoint", "OAuthRevocationEndpoint", "OAuthUserInfoEndpoint", "OAuthJWKSEndpoint",
        ] {
            #expect(try dangers(key, "id.example") == [], "\(key)")
            #expect(try dangers(key, "evil.example") == [.trust] && dangers(key, "id.example:8443") == [.trust], "\(key)")
        }
    }

    @Test("each key that would weaken a login needs the user's consent, and no other key needs it")
    func dangers() throws {
        func dangers(_ key: String, _ value: String) throws -> [ImportDanger] {
            var text = "a://?\(key)::=\(value)"
            if key == "TrustedCA" { text += "&LimitMode::=strict" }
            return try ConfigurationURL(text).profile(ProfileName("p")).importDangers().map(\.danger)
        }
        for (key, value, danger) in [
            ("OAuthClientSecret", "file:/etc/shadow", ImportDanger.secret), ("OAuthUserJWTAssertionValue", "cred:a", .secret),
            ("ClientCertificate", "identity:a", .usesIdentity), ("OAuthClientKey", "identity:a", .usesIdentity),
            ("TrustedCA", "/tmp/evil.pem", .trust), ("OfflineOnUntrustedServer", "TRUE", .untrustedServer),
            ("OfflineOnServerError", "TRUE", .failingServer),
            ("CryptoScheme", "PlainText", .recoverableScheme), ("CryptoScheme", "aes", .recoverableScheme),
            ("AutoLoginAllowed", "true", .remembersPassword), ("RememberCredentialsAllowed", "true", .remembersPassword),
            ("MaxLoginAttempts", "11", .moreAttempts), ("OnAttemptsExceeded", "lockout", .afterAttempts),
            ("OnAttemptsExceeded", "wipe", .afterAttempts), ("OfflineCredentialMaxAge", "0", .longerOffline),
            ("OfflineCredentialMaxAge", "2592001", .longerOffline),
            ("KeychainDataProtection", "KeychainDataAccessibleWhenUnlocked", .weakerLevel),
            ("KeychainDataProtection", "KeychainDataAccessibleAlwaysThisDeviceOnly", .weakerLevel),
        ] { #expect(try dangers(key, value) == [danger], "\(key)=\(value)") }
        for (key, value) in [
            ("OfflineOnUntrustedServer", "false"), ("OfflineOnServerError", "false"), ("CryptoScheme", "SHA-512"),
            ("AutoLoginAllowed", "false"),
            ("MaxLoginAttempts", "10"), ("OfflineCredentialMaxAge", "2592000"), ("RememberUsernameAllowed", "true"),
            ("KeychainDataProtection", "KeychainDataAccessibleWhenUnlockedThisDeviceOnly"), ("OfflineAuthAllowed", "true"),
        ] { #expect(try dangers(key, value) == [], "\(key)=\(value)") }
        #expect(try dangers("SessionActiveOnRestart", "TRUE") == [.keepsSession])
        #expect(try dangers("RememberTokens", "TRUE") == [.keepsSession])
        #expect(
            try dangers("TokenRelease", "allow") == [.releasesTokens] && dangers("TokenRelease", "confirm") == [.releasesTokens])
        #expect(try dangers("TokenRelease", "never") == [])
        // Attack: a URL names a server of the attacker, which would get the access token.
        #expect(try dangers("RESTOrigins", "https://evil.example") == [.trust])
        // Attack: a URL brings metadata with the attacker's pages and keys.
        let metadata = "OAuthClientID::=c&OAuthRedirectEndpoint::=http://127.0.0.1&OpenIDConnectConfiguration"
        #expect(try dangers("AuthServerType::=OpenIDConnect10&\(metadata)", #"{"issuer":"https://id.example"}"#) == [.trust])
        #expect(try dangers("SendAuthorizationHeaderDuringLogout", "TRUE") == [.sendsPasswordAgain])
        // Attack: choose a value that asks no question and gives everything.
        #expect(throws: AuthError.profile(.plainSecret(.oauthClientSecret))) { try dangers("OAuthClientSecret", "cmd:id") }
    }

    @Test("a URL needs the user's consent to drop or loosen a setting of the replaced profile, but not to tighten one")
    func laxer() throws {
        func profile(_ values: [String: String], _ ceiling: PolicyCeiling = .none) throws -> Profile {
            let server = [
                "AuthServerType": "HTTPBasicAuthentication", "LoginURL": "https://a.example/in",
                "LogoutURL": "https://a.example/out",
            ]
            return try Profile(ProfileName("p"), values: server.merging(values) { $1 }.mapValues { .text($0) }, ceiling: ceiling)
        }
        // key · strict · lax; nil: left out
        for (key, strict, lax) in [
            ("ProfileURL", "https://a.example/p", nil), ("ConnectivityMode", "Online", nil), ("ConnectivityMode", nil, "Offline"),
            ("OfflineAuthAllowed", nil, "true"), ("OfflineCredentialMaxAge", "60", nil), ("OfflineCredentialMaxAge", "60", "61"),
            ("MaxLoginAttempts", "3", "10"), ("LimitMode", "strict", nil), ("LimitMode", "strict", "exceeds"),
            ("AttemptDelay", "60", nil), ("AttemptDelay", "60", "59"), ("ClockRollback", "deny", nil),
            ("SessionTimeOutValue", "60", nil), ("SessionTimeOutValue", "60", "61"), ("IdleTimeOutValue", "60", "0"),
            ("RequiredTokens", "SID", nil), ("RequiredTokens", "SID,TID", "TID"),
            ("OAuthIssuer", "https://a.example", nil),
        ] as [(String, String?, String?)] {
            let one = try profile(strict.map { [key: $0] } ?? [:]), other = try profile(lax.map { [key: $0] } ?? [:])
            let dangers = other.importDangers(replacing: one)
            #expect(
                dangers.map(\.key) == [try #require(ProfileKey(spelled: key))] && dangers[0].danger == .laxer,
                "\(key) \(lax ?? "")")
            #expect(one.importDangers(replacing: other).isEmpty, "\(key) \(strict ?? "")")
            #expect(one.importDangers(replacing: one).isEmpty && other.importDangers().isEmpty)
        }
        let pinned = try profile(["TrustedCA": "/etc/ca.pem"])
        #expect(try profile([:]).importDangers(replacing: pinned).map(\.danger) == [.trust])
        // Origins alone bind the endpoints. With an issuer fewer origins are stricter.
        let (key, issuer) = ("OAuthEndpointOrigins", ["OAuthIssuer": "https://a.example"])
        let bound = try profile([key: "https://b.example"])
        #expect(try profile([:]).importDangers(replacing: bound).map(\.key) == [.oauthEndpointOrigins])
        #expect(try profile(issuer).importDangers(replacing: bound).isEmpty)
        #expect(bound.importDangers(replacing: try profile([:])).map(\.danger) == [.trust])
        let locking = try profile(["OnAttemptsExceeded": "lockout"]), wiping = try profile(["OnAttemptsExceeded": "wipe"])
        #expect(try profile([:]).importDangers(replacing: locking).isEmpty)
        #expect(locking.importDangers(replacing: wiping).map(\.danger) == [.afterAttempts])
        // Attack: use today's ceiling to hide the effect that the URL has after the ceiling is raised.
        let ceiling = PolicyCeiling(maxLoginAttempts: 4)
        let nine = try profile(["MaxLoginAttempts": "9"], ceiling), ten = try profile(["MaxLoginAttempts": "10"], ceiling)
        #expect(ten.importDangers(replacing: nine).map(\.danger) == [.laxer])
        #expect(try profile(["MaxLoginAttempts": "1000"], ceiling).importDangers().map(\.danger) == [.moreAttempts])
    }
}
