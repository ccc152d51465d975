// The application profile of the Mobile and Social service as bytes. docs/reference/online.md, "Mobile and Social".

import OMOnlineModel
import Testing

@testable import OMOnline

@Suite("The application profile of the Mobile and Social service") struct OAMMSSetupTests {
    private static let base = "https://h.example:14100/oic_rest/rest"

    private func setup(_ json: String, server: String = "https://h.example:14100") throws -> OAMMSSetup {
        try OAMMSSetup(Array(json.utf8), of: OAMMSService(server, serviceDomain: "D", application: "A"))
    }

    private func policy(_ members: String) throws -> ProfileAnswer { try setup("{\(members)}").policy }

    @Test("without addresses the usual ones count, and none for a logout")
    func usual() throws {
        let setup = try setup("{}", server: "https://h.example:14100/")
        #expect(setup.register?.text == Self.base + "/mobileoamauthentication/register")
        #expect(setup.authenticate.text == Self.base + "/mobileoamauthentication/authenticate")
        #expect(setup.access?.text == Self.base + "/mobileoamauthentication/access")
        #expect(setup.validate.text == Self.base + "/jwtoamauthentication/tokens/info")
        #expect(setup.delete == nil)
    }

    @Test("paths and whole addresses on this server count")
    func own() throws {
        let setup = try setup(
            #"{"services":{"authenticate":"/a?x=1","validate":"https:\/\/H.example:14100/v","register":null,"unknown":[1]}}"#)
        #expect(setup.authenticate.text == "https://h.example:14100/a?x=1" && setup.register == nil && setup.access == nil)
        #expect(setup.validate.text == "https://h.example:14100/v")
    }

    @Test(
        "an address of another origin is refused, for each service",
        arguments: [
            "http://h.example:14100/a", "https://h.example/a", "https://h.example:14101/a", "https://other.example:14100/a",
            "https://h.example.other.example:14100/a", "//other.example/a", "https://user@h.example:14100/a", "a", "",
            "ftp://h.example:14100/a", "/a b", "/a#b", "/\\\\other.example",
        ])
    func otherOrigin(address: String) {
        for service in ["authenticate", "register", "access", "validate", "delete"] {
            let good = service == "authenticate" ? "" : #""authenticate":"/a","#
            #expect(throws: OnlineRefusal.failed(.unusableProfile), "\(service)") {
                try setup(#"{"services":{\#(good)"\#(service)":"\#(address)"}}"#)
            }
        }
    }

    @Test(
        "another application's profile, and what is no profile, is refused",
        arguments: [
            #"{"name":"B"}"#, #"{"name":7}"#, "[]", "7", "", "{", #"{"name":"A","name":"A"}"#, #"{"services":[]}"#,
            #"{"services":{}}"#, #"{"services":{"authenticate":7}}"#, "{} x",
        ])
    func refused(json: String) {
        #expect(throws: OnlineRefusal.failed(.unusableProfile)) { try setup(json) }
    }

    @Test("known values count as text, number or truth value; an epoch that is missing is 0")
    func values() throws {
        func given(_ epoch: UInt64, _ values: [String: String]) -> ProfileAnswer {
            .given(ServerProfile(epoch: epoch, application: "A", values: values))
        }
        #expect(try policy("") == given(0, [:]))
        #expect(
            try policy(#""offlineAuthAllowed":"true","maxLoginAttempts":"4","epoch":9,"sso":{"priority":1},"x":[null]"#)
                == given(9, ["OfflineAuthAllowed": "true", "MaxLoginAttempts": "4"]))
        #expect(
            try policy(#""offlineAuthAllowed":false,"customAttributes":{"CryptoScheme":"SHA-1","LocationUpdateEnabled":500}"#)
                == given(0, ["OfflineAuthAllowed": "false", "CryptoScheme": "SHA-1", "LocationUpdateEnabled": "500"]))
        let unusable = ProfileAnswer.missing(.failed(.unusableProfile))
        for wrong in [#""epoch":"9""#, #""epoch":1.5"#, #""epoch":-1"#, #""epoch":9007199254740992"#, #""maxLoginAttempts":[3]"#]
        {
            #expect(try policy(wrong) == unusable, "\(wrong)")
        }
        #expect(try setup(#"{"epoch":9}"#, server: "http://127.0.0.1:14100").policy == .notAsked)
    }

    @Test("an address that carries the password in clear, or that has a query, is refused")
    func server() {
        for server in ["http://h.example:14100", "https://h.example:14100?x=1", "https://h.example:14100#x", "h.example", ""] {
            #expect(throws: OnlineRefusal.failed(.unsafeAddress), "\(server)") { try setup("{}", server: server) }
        }
    }

    @Test("a profile may connect to the server's port only")
    func ports() {
        let oamms = OAMMSService("https://h.example:14100", serviceDomain: "D", application: "A")
        #expect(OnlineService(.oamms(oamms)).ports == [14100])
    }
}
