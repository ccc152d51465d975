// The policy in force: the profile's, the server's and the administrator's values, and their order.

import Foundation
import OMSystem
import Testing

@testable import OMAuth

@Suite struct EffectivePolicyTests {
    private func local(_ values: [String: String], _ ceiling: PolicyCeiling = .none) throws -> Profile {
        try Profile(ProfileName("p"), values: values.mapValues { .text($0) }, ceiling: ceiling)
    }

    @Test("R19 R26 R28: the server overrides the profile, and the administrator overrides both")
    func attemptsAndPermission() throws {
        // profile N · server N · the administrator's N · N in force · its source
        for (own, server, bound, counts, source) in [
            (nil, nil, nil, 1, .standard), (3, nil, nil, 3, .profile), (3, 5, nil, 5, .server), (9, 2, nil, 2, .server),
            (3, 50, nil, 10, .ceiling), (500, nil, nil, 500, .profile), (500, nil, 20, 20, .ceiling),
            (3, 50, 20, 20, .ceiling), (3, 50, 100, 50, .server), (20, nil, 20, 20, .profile), (nil, 11, nil, 10, .ceiling),
            (nil, 1000, 1, 1, .ceiling),
        ] as [(Int?, Int?, Int?, Int, EffectivePolicy.Source)] {
            let profile = try local(own.map { ["MaxLoginAttempts": "\($0)"] } ?? [:])
            let said = server.map { ServerPolicy(epoch: 1, offlineAuthAllowed: nil, maxLoginAttempts: $0, cryptoScheme: nil) }
            let policy = EffectivePolicy(profile, server: said, ceiling: PolicyCeiling(maxLoginAttempts: bound))
            #expect(
                policy.maxLoginAttempts == counts && policy.sources[.maxLoginAttempts] == source,
                "\(String(describing: (own, server, bound)))")
        }
        // profile · server · the administrator · value in force · its source
        for (own, server, bound, counts, source) in [
            (nil, nil, true, false, .standard), (true, nil, true, true, .profile), (true, false, true, false, .server),
            (false, true, true, true, .server), (nil, true, true, true, .server), (true, nil, false, false, .ceiling),
            (false, true, false, false, .ceiling), (false, nil, false, false, .profile),
        ] as [(Bool?, Bool?, Bool, Bool, EffectivePolicy.Source)] {
            let profile = try local(own.map { ["OfflineAuthAllowed": "\($0)"] } ?? [:])
            let said = server.map { ServerPolicy(epoch: 1, offlineAuthAllowed: $0, maxLoginAttempts: nil, cryptoScheme: nil) }
            let policy = EffectivePolicy(profile, server: said, ceiling: PolicyCeiling(offlineAuthAllowed: bound))
            #expect(
                policy.offlineAuthAllowed == counts && policy.sources[.offlineAuthAllowed] == source,
                "\(String(describing: (own, server, bound)))")
        }
    }

    @Test("a server sets the scheme but not what is remembered, and the administrator bounds the age")
    func schemeAndAge() throws {
        let said = ServerPolicy(epoch: 1, offlineAuthAllowed: true, maxLoginAttempts: nil, cryptoScheme: .plainText)
        let profile = try local(["CryptoScheme": "SHA-256"])
        let policy = EffectivePolicy(profile, server: said, ceiling: .none)
        #expect(policy.cryptoScheme == .plainText && policy.sources[.cryptoScheme] == .server)
        #expect(!profile.remember.credentials.isAllowed && !profile.remember.autoLogin.isAllowed)
        for (own, bound, counts) in [
            ("0", nil, nil), ("0", 100, 100), ("50", 100, 50), ("500", 100, 100), (nil, 100, 100), (nil, nil, nil),
        ] as [(String?, Int64?, Int64?)] {
            let profile = try local(
                own.map { ["OfflineCredentialMaxAge": $0] } ?? [:], PolicyCeiling(offlineCredentialMaxAge: bound))
            #expect(profile.offlineCredentialMaxAge == counts)
            #expect((profile.source(of: .offlineCredentialMaxAge) == .ceiling) == (counts == bound && bound != nil))
        }
        let bounded = try local(
            ["OfflineAuthAllowed": "true", "MaxLoginAttempts": "9"], PolicyCeiling(maxLoginAttempts: 4, offlineAuthAllowed: false)
        )
        #expect(!bounded.offlineAuthAllowed && bounded.maxLoginAttempts == 4)
        #expect(bounded.effective(.maxLoginAttempts) == .number("4") && bounded.values[.maxLoginAttempts] == .number("9"))
    }

    @Test("a server's policy is read with its epoch, without settings that a server must not decide")
    func serverPolicy() throws {
        let text = #"""
            {"epoch": 7, "OfflineAuthAllowed": "TRUE", "MaxLoginAttempts": "5", "CryptoScheme": "sha-512", "LocationUpdateEnabled": 250,
             "TrustedCA": "/tmp/x", "OnAttemptsExceeded": "lockout", "other": [1, {"a": null, "b": [[]]}, "\ud83d\ude00"], "x": null}
            """#
        #expect(
            try ServerPolicy(json: Array(text.utf8))
                == ServerPolicy(
                    epoch: 7, offlineAuthAllowed: true, maxLoginAttempts: 5, cryptoScheme: .sha512, locationUpdateEnabled: true,
                    locationUpdateDistanceFilter: 250))
        let least = try ServerPolicy(json: Array(#"{"epoch":0}"#.utf8))
        #expect(least == ServerPolicy(epoch: 0, offlineAuthAllowed: nil, maxLoginAttempts: nil, cryptoScheme: nil))
        #expect(
            try ServerPolicy(json: Array(#"{"epoch":9007199254740991,"MaxLoginAttempts":1000}"#.utf8)).maxLoginAttempts == 1000)
    }

    @Test("a server's location values are reported as the server's claim, and an invalid distance becomes the SDK's 1000")
    func location() throws {
        // the profile's distance · the server's value · value in force · its source
        for (own, server, isEnabled, metres, source) in [
            (nil, #""epoch":1"#, false, 1000, .standard), ("50", #""epoch":1"#, false, 50, .profile),
            ("50", #""LocationUpdateEnabled":250,"epoch":1"#, true, 250, .server),
            ("50", #""LocationUpdateEnabled":true,"LocationUpdateDistanceFilter":0,"epoch":1"#, true, 1000, .server),
            ("50", #""LocationUpdateEnabled":"x","epoch":1"#, true, 1000, .server),
            (nil, #""LocationUpdateEnabled":false,"epoch":1"#, false, 1000, .standard),
        ] as [(String?, String, Bool, Int, EffectivePolicy.Source)] {
            let profile = try local(own.map { ["LocationUpdateDistanceFilter": $0] } ?? [:])
            let said = try ServerPolicy(json: Array("{\(server)}".utf8))
            #expect(profile.effective(.locationUpdateEnabled, said) == .bool(isEnabled), "\(server)")
            #expect(profile.effective(.locationUpdateDistanceFilter, said) == .number("\(metres)"), "\(server)")
            #expect(profile.source(of: .locationUpdateDistanceFilter, said) == source, "\(server)")
        }
        #expect(throws: AuthError.profile(.value(.locationUpdateDistanceFilter))) {
            try local(["LocationUpdateDistanceFilter": "0"])
        }
        #expect(ProfileProblem.value(.locationUpdateDistanceFilter).sdkCode == 10403)
    }

    @Test("R27: a policy of a lower epoch is refused, and a policy of the same epoch is accepted")
    func epochs() throws {
        let policy = ServerPolicy(epoch: 4, offlineAuthAllowed: true, maxLoginAttempts: nil, cryptoScheme: nil)
        #expect(throws: AuthError.profile(.serverPolicyOlder(epoch: 4, known: 5))) { try policy.check(notOlderThan: 5) }
        try policy.check(notOlderThan: 4)
        try policy.check(notOlderThan: nil)
    }

    @Test("R27: two policies of one epoch give the stricter values in either order, and a higher epoch replaces all values")
    func sameEpoch() {
        func policy(_ allowed: Bool?, _ attempts: Int?, _ epoch: Int64 = 4) -> ServerPolicy {
            ServerPolicy(epoch: epoch, offlineAuthAllowed: allowed, maxLoginAttempts: attempts, cryptoScheme: .saltedSHA512)
        }
        for (known, offered, left) in [
            (policy(true, 3), policy(true, 9), policy(true, 3)), (policy(true, 9), policy(true, 3), policy(true, 3)),
            (policy(false, 3), policy(true, 3), policy(false, 3)), (policy(true, 3), policy(false, 3), policy(false, 3)),
            (policy(nil, nil), policy(false, 3), policy(false, nil)), (policy(nil, nil), policy(true, 9), policy(nil, nil)),
            (policy(true, 3), policy(nil, nil), policy(true, 3)), (policy(true, 9), policy(false, 3), policy(false, 3)),
            (policy(false, 1), policy(true, 9, 5), policy(true, 9, 5)),
        ] {
            #expect(known.merged(by: offered) == left, "\(known), \(offered)")
        }
        let other = ServerPolicy(epoch: 4, cryptoScheme: .plainText, locationUpdateEnabled: true)
        #expect(policy(nil, nil).merged(by: other) == policy(nil, nil))
    }

    @Test("a malformed server policy counts as none")
    func malformed() throws {
        let head = #"{"epoch":1,"#
        var cases = [
            "", "{}", "[]", "null", #"{"epoch":"1"}"#, #"{"epoch":-1}"#, #"{"epoch":1.0}"#, #"{"epoch":1e2}"#, #"{"epoch":01}"#,
            #"{"epoch":true}"#, #"{"epoch":null}"#, #"{"epoch":9007199254740992}"#, #"{"epoch":99999999999999999999}"#,
            #"{"epoch":1,"epoch":2}"#, #"{"Epoch":1}"#, #"{"epoch":1} x"#, #"{"epoch":[1]}"#,
        ]
        for rest in [
            #""OfflineAuthAllowed":1}"#, #""OfflineAuthAllowed":"yes"}"#, #""OfflineAuthAllowed":null}"#,
            #""MaxLoginAttempts":1001}"#, #""MaxLoginAttempts":"1001"}"#, #""MaxLoginAttempts":99999}"#,
            #""MaxLoginAttempts":0}"#, #""MaxLoginAttempts":-1}"#, #""MaxLoginAttempts":"x"}"#, #""MaxLoginAttempts":true}"#,
            #""CryptoScheme":"SHA512"}"#, #""CryptoScheme":0}"#, #""x":nul}"#, #""x":[1,]}"#, #""x":{"a"}}"#, #""x":{"a":1,}}"#,
            #""x":"\ud83d"}"#, #""x":"\ud83dx"}"#, #""x":"\ude00\ud83d"}"#, #""x":1,"x":2}"#, #""x":"#,
            #""x":"# + String(repeating: "[", count: 60_000), #""x":"# + String(repeating: #"{"a":"#, count: 10_000),
            #""x":"# + String(repeating: "[", count: 33) + String(repeating: "]", count: 33) + "}",
            #""x":""# + String(repeating: "y", count: 65_536) + #""}"#,
        ] { cases.append(head + rest) }
        for text in cases {
            #expect(throws: AuthError.profile(.serverPolicy), "\(text.prefix(60))") { try ServerPolicy(json: Array(text.utf8)) }
        }
        #expect(throws: AuthError.profile(.serverPolicy)) { try ServerPolicy(json: [0x7B, 0xFF, 0x7D]) }
    }

    @Test("the administrator's policy counts only if no other user can have written it")
    func ceilingFile() throws {
        let home = try Home(), owner = geteuid()
        let folder = home.path + "/etc", path = folder + "/policy.json"
        #expect(try PolicyCeiling.read(path, owner: owner) == .none)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        #expect(try PolicyCeiling.read(path, owner: owner) == .none)
        func write(_ text: String) throws {
            try? FileManager.default.removeItem(atPath: path)
            try home.write(Array(text.utf8), to: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        }
        try write(#"{"MaxLoginAttempts": 4, "OfflineAuthAllowed": false, "OfflineCredentialMaxAge": 100}"#)
        let all = PolicyCeiling(maxLoginAttempts: 4, offlineAuthAllowed: false, offlineCredentialMaxAge: 100)
        #expect(try PolicyCeiling.read(path, owner: owner) == all)
        for (mode, at) in [(0o664, path), (0o646, path), (0o775, folder), (0o757, folder)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: at)
            #expect(throws: AuthError.storage(.hazardous(.writableByOthers, path: at))) {
                try PolicyCeiling.read(path, owner: owner)
            }
            try FileManager.default.setAttributes([.posixPermissions: at == path ? 0o644 : 0o755], ofItemAtPath: at)
        }
        #expect(throws: AuthError.storage(.hazardous(.otherOwner, path: folder))) {
            try PolicyCeiling.read(path, owner: owner + 1)
        }
        for text in [
            "", "{", "[]", #"{"MaxLoginAttempts":0}"#, #"{"OfflineAuthAllowed":"no"}"#, #"{"LimitMode":"strict"}"#, #"{"X":1}"#,
        ] {
            try write(text)
            #expect(throws: AuthError.profile(.ceiling), "\(text)") { try PolicyCeiling.read(path, owner: owner) }
        }
        try write(String(repeating: " ", count: 65_537))
        #expect(throws: AuthError.profile(.ceiling)) { try PolicyCeiling.read(path, owner: owner) }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/null")
        #expect(throws: AuthError.storage(.hazardous(.symbolicLink, path: path))) { try PolicyCeiling.read(path, owner: owner) }
        let profiles = ProfileFolder(home.path + "/p", ceiling: all)
        _ = try profiles.set(ProfileName("w"), [("MaxLoginAttempts", "9"), ("OfflineAuthAllowed", "true")])
        #expect(try profiles.profile(ProfileName("w")).maxLoginAttempts == 4)
        // The stored value is the requested one, so raising the ceiling gives it back.
        #expect(try ProfileFolder(home.path + "/p").profile(ProfileName("w")).maxLoginAttempts == 9)
    }
}
