#if Server
// Tests of application profiles.

import OMJSON
import OMServer
import OMServerStore
import Testing

@Suite("Policies of the server") struct PolicyTests {
    @Test("each change raises the epoch, and a client that has it is told so")
    func epoch() throws {
        let server = try TestService()
        let none = server.get(["v1", "profiles", "WhitePages"])
        #expect(none.member("epoch") == .number("0") && none.member("MaxLoginAttempts") == nil)
        #expect(server.get(["v1", "profiles", "white pages"]).status == 404)
        for epoch in 1...3 {
            let policy = try server.store.transaction(.write) {
                try PolicyTable.change("WhitePages", ["MaxLoginAttempts": "\(epoch)", "CryptoScheme": nil], $0)
            }
            #expect(policy.epoch == epoch && policy.values == ["MaxLoginAttempts": "\(epoch)"])
        }
        let answer = server.get(["v1", "profiles", "WhitePages"])
        #expect(answer.member("epoch") == .number("3") && answer.headers["etag"] == "\"3\"")
        #expect(try answer.text("ApplicationName") == "WhitePages")
        #expect(try answer.text("MaxLoginAttempts") == "3")
        #expect(server.get(["v1", "profiles", "WhitePages"], ["if-none-match": "\"3\""]).status == 304)
        #expect(server.get(["v1", "profiles", "WhitePages"], ["if-none-match": "\"2\""]).status == 200)
    }

    @Test("changes at once get an epoch each")
    func race() async throws {
        let server = try TestService()
        let epochs = await withTaskGroup(of: Int64?.self) { group in
            for number in 0..<12 {
                group.addTask {
                    try? server.store.transaction(.write) {
                        try PolicyTable.change("App", ["MaxLoginAttempts": "\(number + 1)"], $0).epoch
                    }
                }
            }
            return await group.reduce(into: Set<Int64?>()) { $0.insert($1) }
        }
        #expect(epochs == Set((1...12).map { Int64?($0) }))
    }

    @Test("a key takes what a client would take", arguments: PolicyKey.allCases)
    func keys(key: PolicyKey) {
        let good = [
            PolicyKey.offlineAuthAllowed: ["true", "false"], .maxLoginAttempts: ["1", "10"],
            .cryptoScheme: ["SaltedSHA-256", "AES"],
            .locationUpdateEnabled: ["true", "500"], .locationUpdateDistanceFilter: ["0", "500"],
        ]
        for value in good[key] ?? [] { #expect(key.takes(value)) }
        for value in ["", "yes", "-1", "1.5", "0x10", "ROT13", "99999999999999999999"] {
            #expect(!key.takes(value), "\(value)")
        }
    }

    @Test("the description of the server names addresses below its own")
    func discovery() throws {
        let answer = try TestService().get([".well-known", "omvault"])
        for name in ["issuer", "profiles", "sync", "sdk"] { #expect(try answer.text(name).hasPrefix(TestService.address)) }
    }
}
#endif
