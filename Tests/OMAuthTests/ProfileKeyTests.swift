// Every key of docs/reference/profiles.md: the values that it accepts and refuses, and the number of the refusal.

import Foundation
import OMOnlineModel
import OMRecords
import Testing

@testable import OMAuth

@Suite struct ProfileKeyTests {
    /// The problem with these values. Nil if they make a profile.
    private func problem(_ values: [String: String]) -> ProfileProblem? {
        do throws(AuthError) {
            _ = try Profile(ProfileName("p"), values: values.mapValues { .text($0) })
            return nil
        } catch {
            if case .profile(let problem) = error { return problem }
            return .malformed
        }
    }

    private func profile(_ values: [String: String]) throws -> Profile {
        try Profile(ProfileName("p"), values: values.mapValues { .text($0) })
    }

    private static let basic = [
        "AuthServerType": "HTTPBasicAuthentication", "LoginURL": "https://id.example.org/in",
        "LogoutURL": "https://id.example.org/out",
    ]
    private static let metadata = [
        "{\n\"issuer\":\"https://id.example.org\"}", "\u{FEFF}{\"issuer\":\"http://a/t\",\"x\":[[{}]]}",
        "{\"openid-configuration\":{\"issuer\":\"https://a\"},\"y\":1}",
        "{\"issuer\":\"https://a\"}" + String(repeating: " ", count: 32_768 - 22),
    ]
    private static let wrongMetadata = [
        "", "{}", "[]", "a", "{\"issuer\":7}", "{\"issuer\":\"a\"}", "{\"issuer\":\"https://a?b\"}",
        "{\"issuer\":\"https://a#b\"}",
        "{\"issuer\":\"https://a\"", "{\"issuer\":\"https://a\"}x", "{\"issuer\":\"https://a\",\"issuer\":\"https://a\"}",
        "{\"openid-configuration\":\"https://a\"}", "{\"issuer\":\"https://a\",\"x\":\"\u{0}\"}",
        "{\"issuer\":\"https://a\",\"x\":" + String(repeating: "[", count: 2_000) + String(repeating: "]", count: 2_000) + "}",
        "{\"issuer\":\"https://a\"}" + String(repeating: " ", count: 32_768 - 21),
    ]
    private static let owner = [
        "AuthServerType": "OAuthAuthentication", "OAuthAuthZGrantType": "OAuthResourceOwner", "OAuthClientID": "app",
        "OAuthTokenEndpoint": "https://id.example.org:8443/token",
    ]

    @Test("every key accepts a value of its form, and refuses another with its own name and number")
    func forms() throws {
        let control = "a\u{7}b"
        for key in ProfileKey.allCases {
            let (good, bad): ([String], [String]) =
                switch key.valueType {
                case .flag: (["true", "FALSE"], ["1", "yes", "", "true "])
                case .number(let range):
                    (["\(range.lowerBound)", "\(range.upperBound)"], ["\(range.upperBound + 1)", "-1", "", "1.0", "01"])
                case .numberOrZero(let range):
                    (["0", "\(range.lowerBound)", "\(range.upperBound)"], ["\(range.upperBound + 1)", "-1", "00"])
                case .choice(let words): (words + [words[0].uppercased()], ["", "none", words[0] + " "])
                case .word(let words): (words, ["", words[0].uppercased()])
                case .text:
                    (["a", "é", String(repeating: "a", count: 2048)], ["", control, String(repeating: "a", count: 2049)])
                case .domain:
                    (["a", "é", String(repeating: "a", count: 255)], ["", control, String(repeating: "a", count: 256)])
                case .metadata: (Self.metadata, Self.wrongMetadata)
                case .headerName:
                    (
                        ["X-A"],
                        ["", "a b", "a:b", "Cookie", "HOST", "a\r\nb", "Upgrade", "expect", "TE", "Trailer", "Content-Type"]
                    )
                case .url: (["http://a/"], ["", "a", "ftp://a/", "https://a b/"])
                case .origins:
                    (
                        ["https://a", "https://a/, http://[::1]:8080"],
                        ["", "a", "https://a/b", "https://a?b", "https://a,", "https://u@a", "https://a,\(control)"]
                    )
                case .list: (["a", "a,b", " a , b "], ["", ",", "a,", control])
                case .headers:
                    (
                        ["A:b", "A:b,C:d:e"],
                        ["", "A", ":b", "A:", "A:b,a:c", "authorization:x", "expect:x", "Upgrade:x", "A:\u{e9}"]
                    )
                case .path: (["/a"], ["", "/", "a", "./a", "/a\n"])
                case .secret: (["file:/a", "cred:a"], [])
                case .identity:
                    (
                        ["identity:a", "identity:" + String(repeating: "a", count: 246)],
                        [
                            "", "a", "identity:", "Identity:a", "identity:\(control)",
                            "identity:" + String(repeating: "a", count: 247),
                        ]
                    )
                case .scheme: (["AES", "saltedsha-1"], ["", "SHA512"])
                case .level: (["keychaindataaccessiblealways", "when-unlocked"], ["", "KeychainDataAccessible"])
                }
            for text in good where ![.authServerType, .oauthGrantType].contains(key) {
                let refused = problem([key.rawValue: text])
                let isAccepted =
                    switch refused {
                    case nil, .missing, .totalBelowConnect: true
                    default: false
                    }
                #expect(isAccepted, "\(key.rawValue)=\(text.prefix(40)): \(String(describing: refused))")
            }
            for text in bad { #expect(problem([key.rawValue: text]) == .value(key), "\(key.rawValue)=\(text.prefix(40))") }
            #expect(ProfileProblem.value(key).sdkCode == key.sdkCode)
        }
        #expect(problem(["AuthServerType": "SAML"])?.sdkCode == 10115)
        #expect(problem(["KeychainDataProtection": "x"])?.sdkCode == 10530)
        #expect(problem(["CryptoScheme": "x"])?.sdkCode == 10503)
        #expect(problem(["MaxLoginAttempts": "0"])?.sdkCode == 10106)
        #expect(problem(["SessionTimeOutValue": "9"])?.sdkCode == 10103)
        #expect(problem(["IdleTimeOutValue": "9"])?.sdkCode == 10104)
        #expect(problem(["PercentageToIdleTimeout": "100"])?.sdkCode == 10403)
        #expect(problem(["CustomAuthHeaders": "Host:x"])?.sdkCode == 10021)
        #expect(problem(["HostnameVerification": "ALLOW_ALL"]) == .value(.hostnameVerification))
    }

    @Test("a secret is refused as a value in every form, and no error holds it")
    func secrets() throws {
        let keys = ProfileKey.allCases.filter { $0.valueType == .secret }
        #expect(keys.count == 5)
        for key in keys {
            for text in ["hunter2", "file:relative", "file:", "cmd:echo x", "env:X", "cred:", "cred:../x", "om://a/b", ""] {
                #expect(problem([key.rawValue: text]) == .plainSecret(key), "\(text)")
            }
        }
        #expect(!"\(String(describing: problem(["OAuthClientSecret": "hunter2"])))".contains("hunter2"))
    }

    @Test("both spellings of a key are the same key, and giving both is refused")
    func spellings() throws {
        #expect(ProfileKey.otherSpellings.count == 8)
        for (spelling, key) in ProfileKey.otherSpellings {
            let good = [ProfileValueType.flag: "true", .list: "a", .secret: "cred:a", .url: "https://a/", .text: "a"][
                key.valueType]
            let text = good ?? OAuthGrant.resourceOwner.rawValue
            #expect(ProfileKey(spelled: spelling) == key && ProfileKey(rawValue: spelling) == nil)
            #expect(problem([spelling: text, key.rawValue: text]) == .repeatedKey(key), "\(spelling)")
        }
        #expect(try profile(["RememberCredentialsDefault": "true"]).values == [.rememberCredentialsDefault: .bool(true)])
        #expect(problem(["Offlineauthallowed": "true"]) == .unknownKey("Offlineauthallowed"))
    }

    @Test("each type of server names its required keys, with the SDK's numbers")
    func needs() throws {
        let all: [(AuthServerType, OAuthGrant?, [ProfileKey: Int?])] = [
            (.basic, nil, [.loginURL: 10101, .logoutURL: 10102]),
            (.certificate, nil, [.loginURL: 10101, .logoutURL: 10102, .applicationName: 10100]),
            (.federated, nil, [.loginURL: 10101, .logoutURL: 10102, .loginSuccessURL: 50001, .loginFailureURL: 50002]),
            (.oamms, nil, [.oammsURL: 10025, .oammsServiceDomain: 10025, .applicationName: 10100]),
            (.oauth, .resourceOwner, [.oauthClientID: 40242, .oauthTokenEndpoint: 40243]),
            (.oauth, .clientCredentials, [.oauthClientID: 40242, .oauthTokenEndpoint: 40243, .oauthClientSecret: 40241]),
            (.oauth, .assertion, [.oauthClientID: 40242, .oauthTokenEndpoint: 40243, .oauthUserJWT: nil]),
            (.oauth, .tokenExchange, [.oauthClientID: 40242, .oauthTokenEndpoint: 40243]),
            (
                .oauth, .authorizationCode,
                [
                    .oauthClientID: 40242, .oauthTokenEndpoint: 40243, .oauthAuthorizationEndpoint: 40244,
                    .oauthRedirectEndpoint: 40245,
                ]
            ),
            (.oauth, .implicit, [.oauthClientID: 40242, .oauthAuthorizationEndpoint: 40244, .oauthRedirectEndpoint: 40245]),
            (.openIDConnect, nil, [.openIDConnectDiscoveryURL: 60007, .oauthClientID: 40242, .oauthRedirectEndpoint: 40245]),
            (.localAuthenticator, nil, [:]),
        ]
        for (type, grant, needs) in all {
            var values = ["AuthServerType": type.rawValue]
            values["OAuthAuthZGrantType"] = grant?.rawValue
            values["OAuthScope"] = grant == .implicit ? "openid" : nil
            for key in needs.keys {
                values[key.rawValue] =
                    key.valueType == .secret ? "cred:a" : key.valueType == .text ? "a" : "https://h.example/\(key)"
            }
            #expect(problem(values) == nil, "\(type) \(String(describing: grant))")
            for (key, code) in needs {
                let found = problem(values.filter { $0.key != key.rawValue })
                #expect(found == .missing(key) && found?.sdkCode == code, "\(type) without \(key)")
            }
        }
        #expect(problem(["AuthServerType": "OAuthAuthentication"]) == .missing(.oauthGrantType))
        #expect(ProfileProblem.missing(.oauthGrantType).sdkCode == 40240)
        // A profile that names a server must name its kind.
        for key in ["LoginURL", "ProfileURL", "OAuthTokenEndpoint", "OAMMSURL"] {
            #expect(problem([key: "https://a/"]) == .missing(.authServerType), "\(key)")
        }
        // Other spellings with the same meaning.
        let triple = ["OAMMSHost": "h.example", "OAMMSPort": "14100", "OAMMSServiceDomain": "d", "ApplicationName": "a"]
        let oamms = try profile(triple.merging(["AuthServerType": "OAMMSAuthentication"]) { $1 })
        #expect(oamms.serverOrigin == "http://h.example:14100")
        #expect(oamms.serverIdentity == "OAMMSAuthentication http://h.example:14100/?serviceDomain=d a")
        var discovered = Self.owner
        discovered["OAuthTokenEndpoint"] = nil
        discovered["oauth_discoveryURL"] = "https://id.example.org/.well-known/openid-configuration"
        #expect(try profile(discovered).serverOrigin == "https://id.example.org:443")
        #expect(
            try profile(discovered).serverIdentity
                == "OAuthAuthentication https://id.example.org:443/.well-known/openid-configuration p")
    }

    @Test("values that contradict each other are refused")
    func together() throws {
        let defaults = ["AutoLoginDefault", "RememberCredentialDefault", "RememberUsernameDefault"]
        for out in defaults {
            let two = Dictionary(uniqueKeysWithValues: defaults.filter { $0 != out }.map { ($0, "true") })
            #expect(problem(two) == .severalDefaults)
            #expect(problem([out: "true"]) == nil)
        }
        #expect(ProfileProblem.severalDefaults.sdkCode == 10111)
        #expect(problem(["SessionTimeOutValue": "60", "IdleTimeOutValue": "61"]) == .idleBeyondSession)
        #expect(problem(["SessionTimeOutValue": "60", "IdleTimeOutValue": "60"]) == nil)
        #expect(problem(["SessionTimeOutValue": "0", "IdleTimeOutValue": "61"]) == nil)
        #expect(problem(["ConnectTimeOut": "11"]) == .totalBelowConnect)
        #expect(problem(["IdentityDomainNameInHeader": "true"]) == .missing(.identityDomain))
        #expect(ProfileProblem.missing(.identityDomain).sdkCode == 10037)
        #expect(problem(["IdentityDomainNameInHeader": "true", "CollectIdentityDomain": "true"]) == nil)
        let headers = (1...11).map { "X-\($0):v" }
        #expect(problem(["CustomAuthHeaders": headers.joined(separator: ",")]) == .value(.customAuthHeaders))
        #expect(problem(["CustomAuthHeaders": headers.dropLast().joined(separator: ",")]) == nil)
    }

    @Test("a profile with a server wipes by default, keeps a credential 30 days, and knows the server's origin")
    func server() throws {
        let basic = try profile(Self.basic)
        #expect(basic.serverKind == .basic && basic.serverOrigin == "https://id.example.org:443")
        #expect(basic.onAttemptsExceeded == .wipe && basic.offlineCredentialMaxAge == 2_592_000)
        #expect(try profile(Self.basic.merging(["OfflineCredentialMaxAge": "0"]) { $1 }).offlineCredentialMaxAge == nil)
        #expect(try profile(Self.basic.merging(["OnAttemptsExceeded": "lockout"]) { $1 }).onAttemptsExceeded == .lockout)
        let owner = try profile(Self.owner)
        #expect(owner.serverKind == .oauthResourceOwner && owner.serverOrigin == "https://id.example.org:8443")
        let none = try profile([:])
        #expect(none.serverKind == .none && none.serverOrigin == "" && none.offlineCredentialMaxAge == nil)
        let implicit = Self.owner.merging([
            "OAuthAuthorizationGrantType": "OAuthImplicit", "OAuthAuthZEndpoint": "https://a/",
            "OAuthRedirectEndpoint": "app://x", "OAuthScope": "openid",
        ]) { $1 }.filter { $0.key != "OAuthAuthZGrantType" }
        #expect(try profile(implicit).serverKind == .oauthBrowser)
        let client = try profile(
            Self.owner.merging(["OAuthAuthZGrantType": "OAuthClientCredentials", "OAuthClientSecret": "cred:a"]) { $1 })
        #expect(client.serverKind == .oauthClientCredentials && client.serverIdentity == owner.serverIdentity)
        #expect(try profile(["AuthServerType": "LocalAuthenticator"]).onAttemptsExceeded == .lockout)
    }

    @Test("a login hint is sent only if the profile names one, and the endpoints for tokens are those of the profile")
    func browserParts() throws {
        let code = Self.owner.merging([
            "OAuthAuthZGrantType": "OAuthAuthorizationCode", "OAuthAuthZEndpoint": "https://a/",
            "OAuthRedirectEndpoint": "app://x",
            "OAuthIntrospectionEndpoint": "https://a/i", "OAuthUserInfoEndpoint": "https://a/u",
            "OAuthEndSessionEndpoint": "https://a/o",
        ]) { $1 }
        let plain = try profile(code)
        #expect(plain.browserLogin?.loginHint == nil && plain.browserLogin?.endSession == "https://a/o")
        #expect(plain.tokenEndpoints.introspection == "https://a/i" && plain.tokenEndpoints.userInfo == nil)
        #expect(plain.browserLogin?.userInfo == "https://a/u")
        #expect(try profile(code.merging(["LoginHint": "ada"]) { $1 }).browserLogin?.loginHint == "ada")
        let owner = try profile(Self.owner.merging(["OAuthUserInfoEndpoint": "https://a/u"]) { $1 })
        #expect(owner.tokenEndpoints.userInfo == "https://a/u" && owner.browserLogin == nil)
    }

    @Test("the accessors return the given values")
    func accessors() throws {
        let given = try profile(
            Self.owner.merging([
                "OAuthScope": "openid, profile  email", "OAuthClientSecret": "file:/etc/x", "RequiredTokens": "A,B,A",
                "CustomAuthHeaders": "X-A: one two , X-B:http://c", "identityDomain": "acme",
                "IdentityDomainNameInHeader": "TRUE", "IdentityDomainHeaderName": "X-D", "ConnectivityMode": "online",
                "LimitMode": "strict", "AttemptDelay": "3", "ClockRollback": "deny", "OfflineOnUntrustedServer": "true",
                "OfflineOnServerError": "true",
                "IdleTimeOutValue": "20", "SessionTimeOutValue": "30", "PercentageToIdleTimeout": "99",
                "SessionActiveOnRestart": "true", "TrustedCA": "/etc/ca.pem", "AutoLoginAllowed": "true",
                "AutoLoginDefault": "true", "KeychainDataProtection": "keychaindataaccessibleafterfirstunlock",
                "TotalTimeOut": "7", "ConnectTimeOut": "2", "LogoutTimeOutValue": "4",
            ]) { $1 })
        #expect(given.oauthScopes == ["openid", "profile", "email"] && given.requiredTokens == ["A", "B"])
        #expect(given.oauthClientSecretSource == "file:/etc/x" && given.oauthClientID == "app")
        #expect(given.customHeaders.map(\.name) == ["X-A", "X-B"])
        #expect(given.customHeaders.map(\.value) == ["one two", "http://c"])
        #expect(given.identityDomain == "acme" && given.identityDomainHeader == ("X-D", true))
        #expect(given.connectivityMode == .online && given.limitMode == .strict && given.attemptDelay == 3)
        #expect(
            given.clockRollback == .deny && given.offlineOnUntrustedServer && given.offlineOnServerError
                && given.trustedCA == "/etc/ca.pem")
        #expect(given.tokenRelease == .never)
        #expect(try profile(Self.owner.merging(["TokenRelease": "confirm"]) { $1 }).tokenRelease == .confirm)
        #expect(given.idleTimeOut == 20 && given.sessionTimeOut == 30 && given.percentageToIdleTimeout == 99)
        #expect(given.sessionActiveOnRestart && given.level == ProtectionLevel(.afterFirstUnlock))
        // With OAuth a password is never remembered, for any value.
        #expect(given.remember == RememberPolicy())
        let auto = try profile(["AutoLoginAllowed": "true", "AutoLoginDefault": "true"]).remember.autoLogin
        #expect(auto.isAllowed && auto.isDefault)
        #expect(given.totalTimeOut == 7 && given.connectTimeOut == 2 && given.logoutTimeOut == 4)
        let none = try profile(["RememberUsernameDefault": "true"])
        #expect(!none.remember.userName.isDefault && none.level == .highest && none.logoutTimeOut == nil)
        #expect(none.connectivityMode == .auto && none.connectTimeOut == 5 && none.totalTimeOut == 10)
        #expect(none.identityDomainHeader == ("X-USER-IDENTITY-DOMAIN-NAME", false) && none.applicationName == "p")
        #expect(none.sessionTimeOut == nil && none.idleTimeOut == nil && none.percentageToIdleTimeout == 10)
    }

    @Test("a profile with a policy from another host, or without protection, is refused")
    func policyElsewhere() throws {
        for (text, isBelieved) in [
            ("https://id.example.org/p", true), ("https://ID.example.org:9443/p", true), ("http://id.example.org/p", false),
            ("https://evil.example.org/p", false), ("https://id.example.org.evil.com/p", false), ("http://localhost/p", false),
            ("https://example.org/p", false),
        ] {
            let found = problem(Self.basic.merging(["ProfileURL": text]) { $1 })
            #expect(found == (isBelieved ? nil : .policyElsewhere), "\(text)")
        }
        // This holds on this machine too, and without any server.
        let here = ["LoginURL": "http://localhost/in", "ProfileURL": "http://localhost/p"]
        #expect(problem(Self.basic.merging(here) { $1 }) == .policyElsewhere)
        #expect(problem(["AuthServerType": "LocalAuthenticator", "ProfileURL": "https://a/"]) == .policyElsewhere)
        let configured = [
            "AuthServerType": "OpenIDConnect10", "OpenIDConnectConfiguration": Self.metadata[0], "OAuthClientID": "c",
            "OAuthRedirectEndpoint": "app://x",
        ]
        #expect(problem(configured) == nil)
        #expect(problem(configured.merging(["ProfileURL": "https://a/"]) { $1 }) == .policyElsewhere)
    }

    @Test("the OpenID metadata in a profile name its server, and count before an address of metadata")
    func configuration() throws {
        var values = [
            "AuthServerType": "OpenIDConnect10", "OpenIDConnectConfiguration": Self.metadata[0], "OAuthClientID": "c",
            "OAuthRedirectEndpoint": "http://127.0.0.1",
        ]
        let key = ProfileKey.openIDConnectConfiguration
        let one = try profile(values)
        #expect(one.serverKind == .oauthBrowser && one.serverOrigin == "https://id.example.org:443")
        #expect(one.serverIdentity == "OpenIDConnect10 https://id.example.org:443/ p")
        #expect(one.effect(of: key) == .acts && one.openIDConfiguration?.issuer.text == "https://id.example.org")
        #expect(one.restOrigins.map(\.origin) == ["https://id.example.org:443"])
        #expect(try profile(values.merging([key.rawValue: Self.metadata[2]]) { $1 }).serverOrigin == "https://a:443")
        #expect(problem(values.merging([key.rawValue: "{}"]) { $1 })?.sdkCode == 60008)
        #expect(problem(values.merging([key.rawValue: "\u{FEFF}" + Self.metadata[1]]) { $1 })?.sdkCode == 60008)
        #expect(
            try one.unprotected.isEmpty && profile(values.merging([key.rawValue: Self.metadata[1]]) { $1 }).unprotected == [key])
        // A key that signs needs no other issuer, and for the addresses of endpoints no other document.
        values["OAuthClientKey"] = "identity:k"
        #expect(problem(values) == nil)
        let endpoints =
            "{\"issuer\":\"https://a\",\"token_endpoint\":\"https://a/t\",\"jwks_uri\":7,"
            + "\"device_authorization_endpoint\":\"http://b/d\",\"revocation_endpoint\":\"http://127.0.0.1/r\"}"
        let signing = try profile(values.merging([key.rawValue: endpoints]) { $1 })
        #expect(signing.clientProof.endpoints.map(\.address) == ["https://a/t", "http://127.0.0.1/r"])
        values["OpenIDConnectDiscoveryURL"] = "https://other.example/d"
        let both = try profile(values)
        #expect(both.serverOrigin == one.serverOrigin)
        #expect(both.effect(of: .openIDConnectDiscoveryURL) == .none && both.effect(of: key) == .acts)
        values[key.rawValue] = nil
        #expect(problem(values) == .missing(.oauthIssuer))
        values["OAuthIssuer"] = "https://other.example"
        #expect(try profile(values).effect(of: .openIDConnectDiscoveryURL) == .acts)
        // Addresses of the profile itself count first, and another type of server has no such metadata.
        values[key.rawValue] = Self.metadata[0]
        values["OAuthTokenEndpoint"] = "https://third.example/t"
        let own = try profile(values)
        #expect(own.serverOrigin == "https://third.example:443" && own.effect(of: key) == .none)
        #expect(try profile(Self.owner.merging([key.rawValue: Self.metadata[0]]) { $1 }).openIDConfiguration == nil)
    }

    @Test("a client's key is enough for an assertion grant, and signs only where the profile has no assertion")
    func minted() throws {
        var values = Self.owner.merging(["OAuthAuthZGrantType": "OAuthAssertion", "OAuthIssuer": "https://id.example.org"]) { $1 }
        #expect(problem(values) == .missing(.oauthUserJWT))
        values["OAuthClientKey"] = "identity:k"
        for method in ["auto", "none", "client_secret_basic", "private_key_jwt"] {
            values["OAuthClientAuthMethod"] = method
            #expect(try profile(values).mintsAssertion, "\(method)")
            // This side writes the audience.
            #expect(problem(values.filter { $0.key != "OAuthIssuer" }) == .missing(.oauthIssuer), "\(method)")
        }
        for (key, value) in [
            ("OAuthUserJWTAssertionValue", "cred:a"), ("OAuthUserSAML2UserAssertionValue", "cred:a"),
            ("OAuthAuthZGrantType", "OAuthTokenExchange"), ("OAuthAuthZGrantType", "OAuthResourceOwner"),
        ] { #expect(try !profile(values.merging([key: value]) { $1 }).mintsAssertion, "\(key)") }
        #expect(try profile(values.merging(["OAuthAuthZGrantType": "OAuthUserAssertion"]) { $1 }).mintsAssertion)
    }

    @Test("an address has only one reading")
    func addresses() throws {
        for (text, origin) in [
            ("https://A.example", "https://a.example:443"), ("HTTP://a:1", "http://a:1"), ("http://[::1]/", "http://[::1]:80"),
            ("http://[::1]:8080?x=%41", "http://[::1]:8080"), ("https://a/b?c=d&e:f@g", "https://a:443"),
            ("http://127.0.0.1:65535/", "http://127.0.0.1:65535"),
        ] { #expect(ServerURL(text)?.origin == origin, "\(text)") }
        for text in [
            "", "https://", "https:///x", "https:/a", "//a", "a", "ftp://a", "https://a:0", "https://a:65536", "https://a:",
            "https://a:x", "https://u@a", "https://u:p@a", "https://a\\@b/", "https://a#b", "https://a b", "https://a\n",
            "https://ä", "https://a..b", "https://.a", "https://-a", "https://a/%", "https://a/%2", "https://a/%zz",
            "https://[::1", "https://::1", "https://[a]", "https://[::1%25eth0]", "https://a%2eb", "https://[::1]x",
            "https://a/\"", "https://a:1:2", "https://" + String(repeating: "a", count: 64), " https://a",
            "https://a/" + String(repeating: "b", count: 2048),
            // An IPv4 address that two readers understand differently.
            "http://0127.0.0.1/", "https://127.0.0.01/", "http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/",
            "http://127.0.0.256/", "http://1.2.3.4.5/", "http://a.1/", "http://localhost./", "http://127.0.0.1./",
        ] { #expect(ServerURL(text) == nil, "\(text.prefix(60))") }
        for text in ["http://localhost/", "http://127.1.2.3/", "http://[::1]/", "http://LOCALHOST:1/"] {
            #expect(ServerURL(text)?.isLoopback == true, "\(text)")
        }
        for text in ["http://127.0.0.1.evil.com/", "http://localhost.evil.com/", "http://128.0.0.1/", "http://a.localhost/"] {
            #expect(ServerURL(text)?.isLoopback == false, "\(text)")
        }
    }

    @Test("docs/reference/profiles.md has every key with its default, number and effect, and no other key")
    func page() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/reference/profiles.md")
        var found: [ProfileKey: [String]] = [:]
        var spellings: Set<String> = []
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.dropFirst(2).dropLast(2).split(separator: " | ").map(String.init)
            guard cells.count == 6 else { continue }
            let names = cells[0].split(separator: "`").map(String.init).filter { $0 != ", " }
            let named = ProfileKey(rawValue: names[0])
            let key = try #require(named, "\(line)")
            #expect(found.updateValue(cells, forKey: key) == nil, "\(key) is there twice")
            spellings.formUnion(names.dropFirst())
        }
        #expect(spellings == Set(ProfileKey.otherSpellings.keys))
        let ofProfile: Set<ProfileKey> = [.offlineCredentialMaxAge, .onAttemptsExceeded, .applicationName]
        for key in ProfileKey.allCases {
            let cells = try #require(found[key], "\(key.rawValue) is missing")
            #expect(cells[3] == key.sdkCode.map(String.init) ?? "–", "\(key.rawValue): number")
            #expect(cells[4] == key.effect.rawValue, "\(key.rawValue): effect")
            let standard: String? =
                switch key.fixedDefault {
                case .bool(let bool): "\(bool)"
                case .number(let digits): digits
                case .text(let text): "`\(text)`"
                case nil: ofProfile.contains(key) ? nil : "–"
                }
            if let standard { #expect(cells[2] == standard, "\(key.rawValue): default") }
        }
    }
}
