// Presets: those of omvault, those of an administrator, and what none may set. docs/reference/profiles.md, "Presets".

import Foundation
import OMSystem
import TestSupport
import Testing

@testable import OMAuth

@Suite("Presets of public servers") struct ProfilePresetTests {
    @Test("every preset of omvault makes a profile over https, names no client, and is sorted with the others")
    func builtIn() throws {
        let presets = try ProfilePresets.read("/nowhere/presets.json")
        #expect(presets.all.map(\.name) == ["facebook", "github", "gitlab", "google", "keycloak", "microsoft"])
        #expect(presets.ownNames.isEmpty)
        for preset in presets.all {
            let issuer = preset[.oauthIssuer] ?? preset.issuerForm.map { $0.replacing("HOST", with: "id.example.org") }
            if let issuer { #expect(ServerURL(issuer)?.isSecure == true, "\(preset.name)") }
            for (key, value) in preset.settings {
                #expect(ProfilePreset.keys.contains(key), "\(preset.name) \(key)")
                guard key.rawValue.hasSuffix("Endpoint"), key != .oauthRedirectEndpoint else { continue }
                #expect(ServerURL(value)?.isSecure == true, "\(preset.name) \(key)")
            }
            var values: [String: ProfileValue] = [
                "AuthServerType": .text("OAuthAuthentication"), "OAuthAuthZGrantType": .text("OAuthAuthorizationCode"),
                "OAuthClientID": .text("c"), "OAuthRedirectEndpoint": .text("http://127.0.0.1"),
            ]
            if let issuer { values["oauth_discoveryURL"] = .text(issuer) }
            for (key, value) in preset.settings { values[key.rawValue] = .text(value) }
            let profile = try Profile(ProfileName("p"), values: values)
            #expect(profile.unprotected.isEmpty && profile.tokenRelease == .never, "\(preset.name)")
        }
    }

    private static let good = #"""
        {"ours": {"about": "Ours", "proven": true, "source": "a test", "notes": ["One."],
         "settings": {"OAuthIssuer": "https://id.example.org/x", "OAuthScope": "openid"}}}
        """#

    @Test("the administrator's file adds presets and replaces others, and counts only if no other user can have written it")
    func machine() throws {
        let home = try Home(), owner = geteuid()
        let folder = home.path + "/etc", path = folder + "/presets.json"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        func write(_ text: String) throws {
            try? FileManager.default.removeItem(atPath: path)
            try home.write(Array(text.utf8), to: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        }
        try write(Self.good)
        let read = try ProfilePresets.read(path, owner: owner)
        #expect(read.all.count == 7 && read.ownNames == ["ours"] && read["ours"]?[.oauthScope] == "openid")
        #expect(read["ours"]?.isProven == true && read["ours"]?.notes == ["One."])
        try write(Self.good.replacing("ours", with: "github"))
        let replaced = try ProfilePresets.read(path, owner: owner)
        #expect(replaced.all.count == 6 && replaced["github"]?.about == "Ours" && replaced["github"]?[.oauthTokenEndpoint] == nil)
        for (mode, at) in [(0o664, path), (0o646, path), (0o775, folder), (0o757, folder)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: at)
            #expect(throws: AuthError.storage(.hazardous(.writableByOthers, path: at))) {
                try ProfilePresets.read(path, owner: owner)
            }
            try FileManager.default.setAttributes([.posixPermissions: at == path ? 0o644 : 0o755], ofItemAtPath: at)
        }
        try write(String(repeating: " ", count: 65_537))
        #expect(throws: AuthError.profile(.presets)) { try ProfilePresets.read(path, owner: owner) }
    }

    @Test(
        "a preset with one wrong value is refused",
        arguments: [
            ("\"ours\"", "\"Ours\""), ("\"ours\"", "\"a b\""), ("\"ours\"", "\"\""), ("\"Ours\"", "7"), ("\"Ours\"", "\"\""),
            ("\"Ours\"", #""\u001b[2J""#), ("true", "\"yes\""), ("\"a test\"", "null"), ("[\"One.\"]", "\"One.\""),
            ("[\"One.\"]", "[1]"), ("\"about\"", "\"other\""), ("\"notes\"", "\"client_id\""),
            ("\"OAuthScope\": \"openid\"", "\"TokenRelease\": \"allow\""),
            ("\"OAuthScope\": \"openid\"", "\"TrustedCA\": \"/etc/ca.pem\""),
            ("\"OAuthScope\": \"openid\"", "\"OAuthClientSecret\": \"file:/etc/shadow\""),
            ("\"OAuthScope\": \"openid\"", "\"OAuthClientID\": \"c\""), ("\"OAuthScope\": \"openid\"", "\"NoKey\": \"x\""),
            ("\"OAuthScope\": \"openid\"", "\"CustomAuthHeaders\": \"X:y\""), ("\"openid\"", "7"),
            ("\"OAuthScope\": \"openid\"", "\"OAuthTokenEndpoint\": \"https://id.example.org/t\""),
            ("\"OAuthIssuer\": \"https://id.example.org/x\", ", ""), ("https://id", "http://id"), ("https://id", "ftp://id"),
            ("\"OAuthScope\": \"openid\"", "\"OAuthEndpointOrigins\": \"https://a.example,http://b.example\""),
            ("\"OAuthScope\": \"openid\"", "\"RESTOrigins\": \"http://b.example\""),
            ("\"OAuthScope\": \"openid\"", "\"OAuthRedirectEndpoint\": \"https://a.example/cb\""), ("}}}", "}}} x"),
        ])
    func wrong(_ row: (part: String, other: String)) {
        let text = Self.good.replacing(row.part, with: row.other)
        #expect(text != Self.good, "\(row)")
        #expect(throws: ProfileProblem.presets, "\(row)") { try ProfilePresets.presets(Array(text.utf8)) }
    }
}
