// The rules for ID tokens, each with one wrong value.

import Foundation
import OMCrypto
import OMJSON
import OMOnlineModel
import OMSecrets
import Testing

@testable import OMOnline

@Suite("An ID token") struct IDTokenTests {
    private static let now: Int64 = 1_800_000_000
    static let good = Claims(now: now)
    private static let expected = IDToken.Expected(
        issuer: "https://i.example", client: "native", nonce: "n", access: "at-1")

    private func read(
        _ json: String, _ expected: IDToken.Expected = expected, by key: SigningKey = .p256, now: Int64 = now
    ) throws -> (subject: String, name: String) {
        let parsed = try JWS(bytes(key.token(json: json)))
        let token = try IDToken(parsed.verified(by: key.key.publicKey(), as: key.algorithm), expected, now: now)
        return (token.subject, try token.claims.name(nil))
    }

    private func isRefused(_ claims: Claims, _ expected: IDToken.Expected = expected, by key: SigningKey = .p256) -> Bool {
        do {
            _ = try read(claims.json, expected, by: key)
            return false
        } catch { return error as? OnlineRefusal == .failed(.unusableIDToken) }
    }

    @Test("a token of this issuer, client and login names its user")
    func accepted() throws {
        let (subject, name) = try read(Self.good.json)
        #expect(subject == "s-1" && name == "ada")
        for (name, json) in [
            ("aud", "[\"native\"]"), ("azp", "\"native\""), ("exp", "1800000000.5"), ("iat", "1.8e9"), ("nbf", "1800000060"),
            ("other", "{\"a\":[1,{}]}"), ("exp", "1799999941"), ("iat", "1800000060"),
        ] { #expect(!isRefused(Self.good.with(name, json)), "\(name) \(json)") }
        #expect(!isRefused(Self.good.with("aud", "[\"a\",\"native\"]").with("azp", "\"native\"")))
    }

    @Test(
        "a token with one wrong claim is refused",
        arguments: [
            ("iss", nil), ("iss", "\"https://j.example\""), ("iss", "\"https://i.example/\""), ("iss", "[\"https://i.example\"]"),
            ("iss", "\"HTTPS://i.example\""),
            ("aud", nil), ("aud", "\"other\""), ("aud", "[]"), ("aud", "[\"other\"]"), ("aud", "[\"native\",1]"),
            ("aud", "{\"native\":1}"), ("aud", "[\"native\",\"other\"]"), ("azp", "\"other\""), ("azp", "null"),
            ("azp", "[\"native\"]"), ("exp", nil), ("exp", "1799999940"), ("exp", "\"1900000000\""), ("exp", "-1"),
            ("exp", "1e999"), ("exp", "null"), ("iat", nil), ("iat", "1800000061"), ("iat", "\"1800000000\""),
            ("nbf", "1800000061"), ("nbf", "\"1\""), ("nonce", nil), ("nonce", "\"N\""), ("nonce", "\"\""), ("nonce", "[\"n\"]"),
            ("nonce", "null"), ("at_hash", "\"\""), ("at_hash", "null"), ("at_hash", "\"AAAAAAAAAAAAAAAAAAAAAA\""), ("sub", nil),
            ("sub", "\"\""), ("sub", "7"), ("sub", "\"a\\u000ab\""), ("sub", "\"a\\u202eb\""),
            ("sub", "\"\(String(repeating: "x", count: 513))\""),
        ] as [(String, String?)])
    func oneWrongClaim(_ row: (name: String, json: String?)) {
        #expect(isRefused(Self.good.with(row.name, row.json)), "\(row.name) \(row.json ?? "-")")
    }

    @Test(
        "a payload that is no JSON object, or has a member twice, is refused",
        arguments: [
            "", "[]", "1", "{", "{\"iss\":\"https://i.example\",\"iss\":\"https://i.example\"}",
            "\u{FEFF}" + IDTokenTests.good.json, IDTokenTests.good.json + "x",
            String(repeating: "[", count: 200) + String(repeating: "]", count: 200),
        ])
    func payload(_ json: String) {
        #expect(throws: OnlineRefusal.failed(.unusableIDToken)) { try read(json) }
    }

    @Test("at_hash is the left half of the hash of the token's own algorithm")
    func accessHash() throws {
        // OpenID Connect Core, appendix A.3.
        #expect(IDToken.hash(of: "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y", .rs256) == "77QmUPtjPfzWtF2AnpK9RQ")
        let right = Dictionary(
            uniqueKeysWithValues: [SigningKey.p256, .p384, .ed25519].map {
                ($0.algorithm, IDToken.hash(of: "at-1", $0.algorithm))
            })
        for key in [SigningKey.p256, .p384, .ed25519] {
            for (algorithm, hash) in right {
                let claims = Self.good.with("at_hash", "\"\(try #require(hash))\"")
                #expect(isRefused(claims, by: key) == (algorithm != key.algorithm), "\(key.algorithm) \(algorithm)")
            }
        }
        let other = try #require(IDToken.hash(of: "at-2", .es256))
        #expect(isRefused(Self.good.with("at_hash", "\"\(other)\"")))
    }

    @Test("a token that came through the browser names the access token that came with it")
    func neededHash() throws {
        var expected = Self.expected
        expected.needsAccessHash = true
        let hash = try #require(IDToken.hash(of: "at-1", .es256)), other = try #require(IDToken.hash(of: "at-2", .es256))
        #expect(isRefused(Self.good, expected) && !isRefused(Self.good.with("at_hash", "\"\(hash)\""), expected))
        #expect(isRefused(Self.good.with("at_hash", "\"\(other)\""), expected))
    }

    @Test("with max_age the user has proved to be there that long ago at most")
    func maximumAge() {
        var expected = Self.expected
        expected.maximumAge = 100
        #expect(isRefused(Self.good, expected))
        for (time, isRight) in [
            ("1799999840", true), ("1799999839", false), ("1800000060", true), ("1800000061", false), ("\"1800000000\"", false),
            ("0", false),
        ] { #expect(isRefused(Self.good.with("auth_time", time), expected) != isRight, "\(time)") }
        #expect(!isRefused(Self.good.with("auth_time", "0")))
    }

    @Test("the token of a refresh is of the session's user")
    func refreshed() {
        var expected = Self.expected
        (expected.nonce, expected.subject) = (nil, "s-1")
        #expect(!isRefused(Self.good, expected) && !isRefused(Self.good.with("nonce", nil), expected))
        expected.subject = "s-2"
        #expect(isRefused(Self.good, expected))
    }

    @Test(
        "the user's name is preferred_username, a verified e-mail or sub, or the claim of the profile",
        arguments: [
            ("{\"preferred_username\":\"ada\",\"email\":\"a@x\",\"email_verified\":true,\"sub\":\"s\"}", nil, "ada"),
            ("{\"email\":\"a@x\",\"email_verified\":true,\"sub\":\"s\"}", nil, "a@x"),
            ("{\"email\":\"a@x\",\"email_verified\":false,\"sub\":\"s\"}", nil, "s"),
            ("{\"email\":\"a@x\",\"email_verified\":\"true\",\"sub\":\"s\"}", nil, "s"),
            ("{\"email\":\"a@x\",\"email_verified\":1,\"sub\":\"s\"}", nil, "s"),
            ("{\"email\":\"a@x\",\"sub\":\"s\"}", nil, "s"), ("{\"email\":\"a@x\",\"sub\":\"s\"}", "email", nil),
            ("{\"email\":\"a@x\",\"email_verified\":true}", "email", "a@x"), ("{\"login\":\"ada\"}", "login", "ada"),
            ("{\"sub\":\"s\"}", "login", nil), ("{\"login\":7}", "login", nil), ("{\"login\":\"\"}", "login", nil),
            ("{}", nil, nil),
            ("{\"sub\":\"a\\u001b[2J\"}", nil, nil), ("{\"sub\":\"a\\u0000\"}", nil, nil), ("{\"sub\":\"a\\u0085\"}", nil, nil),
            ("{\"sub\":\"\(String(repeating: "x", count: 512))\"}", nil, String(repeating: "x", count: 512)),
            ("{\"sub\":\"\(String(repeating: "x", count: 513))\"}", nil, nil),
            ("{\"preferred_username\":\"\\u202e\",\"sub\":\"s\"}", nil, nil),
        ] as [(String, String?, String?)])
    func names(_ row: (json: String, claim: String?, name: String?)) throws {
        let claims = UserClaims(try #require(try JSON(parsing: Array(row.json.utf8).span).members))
        if let name = row.name {
            #expect(try claims.name(row.claim) == name)
        } else {
            #expect(throws: OnlineRefusal.failed(.unusableName)) { try claims.name(row.claim) }
        }
    }
}
