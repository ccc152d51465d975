import Testing

@testable import OMShell
@testable import omvault_full

@Suite("The folders of a user") struct HomeTests {
    @Test("an absolute XDG folder is used; otherwise the folder in the home is used")
    func folders() throws {
        let plain = try home(["HOME": "/h"])
        #expect(plain.vaults == "/h/.local/share/omvault")
        #expect(plain.loginLedger == "/h/.local/state/omvault/logins.db")
        #expect(plain.device == "/h/.local/state/omvault-device")
        #expect(plain.profile("work") == "/h/.config/omvault/profiles/work.json")
        let xdg = try home([
            "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "relative", "HOME": "/h",
        ])
        #expect(xdg.vaults == "/d/omvault")
        #expect(xdg.device == "/s/omvault-device")
        #expect(xdg.configuration == "/h/.config/omvault")
    }

    @Test("a missing or relative HOME is a configuration error if a folder needs it")
    func noHome() throws {
        for variables in [[:], ["HOME": "here"], ["XDG_DATA_HOME": "/d"]] {
            do {
                _ = try home(variables)
                Issue.record("accepted \(variables)")
            } catch {
                #expect((error as? Failure)?.status == .config)
            }
        }
        _ = try home(["XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c"])
    }

    @Test(
        "a vault is chosen by its name or by its path",
        arguments: [
            (nil, "personal", "/h/.local/share/omvault/personal.omv"),
            ("work", "work", "/h/.local/share/omvault/work.omv"),
            ("./work", "work", "./work"), ("/a/work.omv", "work", "/a/work.omv"), ("work.omv", "work", "work.omv"),
            ("a/\u{301}b.omv", "\u{301}b", "a/\u{301}b.omv"), ("a/\u{301}b", "\u{301}b", "a/\u{301}b"),
        ] as [(String?, String, String)])
    func vault(given: String?, name: String, path: String) throws {
        let place = try VaultLocation(given, in: home(["HOME": "/h"]))
        #expect(place.name == name)
        #expect(place.path == path)
    }

    @Test("an invalid name of a vault is refused", arguments: ["", ".", "..", ".omv", ".hidden", "a\nb", "a\u{1B}b"])
    func refused(given: String) {
        #expect(throws: Failure.self) { try VaultLocation(given, in: home(["HOME": "/h"])) }
    }

    private func home(_ variables: [String: String]) throws -> UserFolders { try UserFolders { variables[$0] } }
}
