import Foundation
import OMSystem
import Testing

@testable import OMAuth

@Suite struct ProfileTests {
    private let name = try? ProfileName("work")

    private func parse(_ json: String) throws -> Profile {
        try parse(Array(json.utf8))
    }

    private func parse(_ json: [UInt8]) throws -> Profile {
        let folder = try Home()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/p", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try folder.write(json, to: folder.path + "/p/work.json")
        return try ProfileFolder(folder.path + "/p").profile(#require(name))
    }

    @Test("an empty profile denies offline logins, tolerates one failure, salts and locks out")
    func defaults() throws {
        let profile = try parse("{}")
        #expect(!profile.offlineAuthAllowed && profile.maxLoginAttempts == 1)
        #expect(profile.cryptoScheme == .saltedSHA512 && profile.offlineCredentialMaxAge == nil)
        #expect(profile.onAttemptsExceeded == .lockout)
    }

    @Test("values are accepted in the SDK's spellings")
    func values() throws {
        for text in ["true", "\"TRUE\"", "\"true\"", "\"True\""] {
            #expect(try parse("{\"OfflineAuthAllowed\": \(text)}").offlineAuthAllowed)
        }
        for text in ["false", "\"FALSE\""] {
            #expect(try !parse("{\"OfflineAuthAllowed\":\(text)}").offlineAuthAllowed)
        }
        for text in ["1000", "\"1000\""] {
            #expect(try parse("{\"MaxLoginAttempts\":\(text)}").maxLoginAttempts == 1000)
        }
        #expect(try parse(#"{"CryptoScheme":"saltedsha-224"}"#).cryptoScheme == .saltedSHA224)
        #expect(try parse(#"{"CryptoScheme":"PLAINTEXT"}"#).cryptoScheme == .plainText)
        #expect(try parse(#"{"OfflineCredentialMaxAge":0}"#).offlineCredentialMaxAge == nil)
        #expect(try parse(#"{"OfflineCredentialMaxAge":3155760000}"#).offlineCredentialMaxAge == 3_155_760_000)
        #expect(try parse(#" {"OnAttemptsExceeded" : "wipe" } "#).onAttemptsExceeded == .wipe)
    }

    @Test("a forbidden value is refused with its reason")
    func refused() throws {
        var cases: [(String, ProfileProblem)] = []
        for text in [
            "0", "-1", "1e99", "1e1", "5.0", "1001", "99999999999999999999", "\"abc\"", "\"+5\"", "\" 5\"", "\"5 \"",
            "\"\"", "\"05\"", "\"0x5\"", "\"٥\"", "true", "-0", "\"5\\u0000\"",
        ] {
            cases.append(("{\"MaxLoginAttempts\":\(text)}", .value(.maxLoginAttempts)))
        }
        for text in ["1", "0", "\"yes\"", "\"1\"", "\"\"", "\"true \""] {
            cases.append(("{\"OfflineAuthAllowed\":\(text)}", .value(.offlineAuthAllowed)))
        }
        for text in ["\"\"", "\"SHA512\"", "\"SaltedSHA-5120\"", "\"{SHA-1}\"", "\"PBKDF2WithHmacSHA1\"", "0", "true"] {
            cases.append(("{\"CryptoScheme\":\(text)}", .value(.cryptoScheme)))
        }
        for text in ["-1", "3155760001", "1e9", "\"forever\"", "true"] {
            cases.append(("{\"OfflineCredentialMaxAge\":\(text)}", .value(.offlineCredentialMaxAge)))
        }
        for text in ["\"Wipe\"", "\"\"", "true", "1"] {
            cases.append(("{\"OnAttemptsExceeded\":\(text)}", .value(.onAttemptsExceeded)))
        }
        cases += [
            (#"{"maxloginattempts":5}"#, .unknownKey("maxloginattempts")), (#"{"X":1}"#, .unknownKey("X")),
            (#"{"LoginURL":"https://example.org"}"#, .missing(.authServerType)),
            (#"{"OAuthScope":"a","OAuthScopes":"a"}"#, .repeatedKey(.oauthScope)),
            (#"{"LimitMode":"Strict"}"#, .value(.limitMode)),
        ]
        for (json, problem) in cases { #expect(throws: AuthError.profile(problem), "\(json)") { try parse(json) } }
    }

    @Test("a file that is not one flat object is malformed")
    func malformed() throws {
        let cases: [String] = [
            "", " ", "null", "[]", "{", "}", "{}}", "{} x", "{\"A\"}", "{\"A\":}", "{\"A\":1,}", "{,}", "{\"A\" 1}",
            "{\"A\":1 \"B\":2}", "{\"A\":null}", "{\"A\":00}", "{\"A\":1.}", "{\"A\":+1}", "{\"A\":[]}", "{\"A\":{}}", "{A:1}",
            "{'A':1}", "{\"A\":tru}",
            "{\"A\":True}",
            "{\"A\":\"x}", "{\"A\":\"\\x\"}", "{\"A\":\"\\u12\"}", "{\"A\":\"\\u12G4\"}", "{\"A\":\"\\ud800\"}",
            "{\"A\":\"\\",
            "{\"A\":\"\n\"}", "{\"A\u{1}\":1}", "{\"A\\u0000B\":1}", "{\"\":1}", "{\"sp ace\":1}", "// c\n{}",
            "{}\u{0}",
            "{\"MaxLoginAttempts\":1,\"MaxLoginAttempts\":1000}", "{\"\(String(repeating: "k", count: 65))\":1}",
            String(repeating: "[", count: 60_000), "{\"A\":\"\(String(repeating: "x", count: 70_000))\"}",
            "{\"MaxLoginAttempts\":1,\"MaxLogin\\u0041ttempts\":1000}",
        ]
        for json in cases { #expect(throws: AuthError.profile(.malformed), "\(json.prefix(60))") { try parse(json) } }
        for bytes: [UInt8] in [
            [0xEF, 0xBB, 0xBF, 0x7B, 0x7D], [0xFF, 0xFE], Array("{\"".utf8) + [0xC0, 0xAF] + Array("\":1}".utf8),
        ] {
            #expect(throws: AuthError.profile(.malformed), "\(bytes)") { try parse(bytes) }
        }
    }

    @Test("set adds to the stored keys, writes all or nothing into a private file, and show reads it back")
    func set() throws {
        let home = try Home(), folder = ProfileFolder(home.path + "/config/omvault/profiles")
        let work = try ProfileName("work")
        #expect(throws: AuthError.unknownProfile(work)) { try folder.profile(work) }
        #expect(try folder.names() == [])
        _ = try folder.set(work, [("OfflineAuthAllowed", "true"), ("MaxLoginAttempts", "5")])
        let both = try folder.set(work, [("CryptoScheme", "sha-256"), ("MaxLoginAttempts", "7")])
        #expect(both.maxLoginAttempts == 7 && both.offlineAuthAllowed && both.cryptoScheme == .sha256)
        #expect(try folder.profile(work).effective(.cryptoScheme) == .text("SHA-256"))
        #expect(try Set(folder.profile(work).values.keys) == [.offlineAuthAllowed, .maxLoginAttempts, .cryptoScheme])
        let path = home.path + "/config/omvault/profiles/work.json"
        let before = FileManager.default.contents(atPath: path)
        #expect(throws: AuthError.profile(.value(.maxLoginAttempts))) {
            try folder.set(work, [("OnAttemptsExceeded", "wipe"), ("MaxLoginAttempts", "0")])
        }
        #expect(FileManager.default.contents(atPath: path) == before)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let above = try FileManager.default.attributesOfItem(atPath: home.path + "/config")[.posixPermissions] as? Int
        #expect(above == 0o700)
        #expect(try folder.names() == [work])
        let plain = try folder.set(work, [], unset: ["MaxLoginAttempts", "CryptoScheme"])
        #expect(Set(plain.values.keys) == [.offlineAuthAllowed] && plain.maxLoginAttempts == 1)
        #expect(throws: AuthError.profile(.repeatedKey(.maxLoginAttempts))) {
            try folder.set(work, [("MaxLoginAttempts", "2")], unset: ["MaxLoginAttempts"])
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(throws: AuthError.storage(.hazardous(.openToOthers, path: path))) { try folder.profile(work) }
    }

    @Test("the other spelling of a key replaces the first, store replaces the whole, and rm leaves nothing")
    func replaced() throws {
        let home = try Home(), folder = ProfileFolder(home.path + "/p")
        let work = try ProfileName("work"), path = home.path + "/p/work.json"
        #expect(throws: AuthError.unknownProfile(work)) { try folder.remove(work) }
        _ = try folder.set(work, [("OfflineAuthAllowed", "true")])
        try FileManager.default.removeItem(atPath: path)
        try home.write(Array(#"{"OAuthScopes":"a b,c"}"#.utf8), to: path)
        #expect(try folder.profile(work).oauthScopes == ["a", "b", "c"])
        #expect(try folder.set(work, [("OAuthScope", "d")]).oauthScopes == ["d"])
        #expect(try folder.profile(work).values == [.oauthScope: .text("d")])
        try folder.store(try Profile(work, values: ["LimitMode": .text("strict")]))
        #expect(try folder.profile(work).values == [.limitMode: .text("strict")])
        try home.write(Array("{".utf8), to: path)
        #expect(throws: AuthError.profile(.malformed)) { try folder.profile(work) }
        try folder.remove(work)
        #expect(try folder.names() == [] && !FileManager.default.fileExists(atPath: path))
        #expect(throws: AuthError.unknownProfile(work)) { try folder.remove(work) }
    }

    @Test("profile and user names that could be mistaken for something else are refused")
    func names() throws {
        for text in [
            "", ".", "..", ".hidden", "a/b", "../x", "a b", "a\u{0}", "é", "a\n", String(repeating: "a", count: 65),
        ] {
            #expect(throws: AuthError.invalidProfileName, "\(text.debugDescription)") { try ProfileName(text) }
        }
        for text in [
            "", "\u{0}", "a\u{0}b", "a\n", "\u{7F}", "\u{85}", "\u{2028}", "\u{1B}[2J",
            String(repeating: "é", count: 128),
        ] {
            #expect(throws: AuthError.invalidUserName, "\(text.debugDescription)") { try UserName(text) }
        }
        for text in ["a", "../ada", "Ada", "ada ", "é", "e\u{301}", "用户", String(repeating: "x", count: 255)] {
            #expect(try UserName(text).text.utf8.elementsEqual(text.utf8))
        }
        #expect(try UserName("é") != UserName("e\u{301}"))
        #expect(try ProfileName(String(repeating: "a", count: 64)).text.count == 64)
    }
}
