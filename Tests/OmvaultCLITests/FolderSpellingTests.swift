// One folder under several spellings: the agent and the verbs mean the same vault and the same sessions.

import Foundation
import TestSupport
import Testing

@testable import omvault

@Suite("Spellings of a folder") struct FolderSpellingTests {
    @Test("links, dots and slashes in the state folder's path are resolved, also before the folder is there")
    func resolved() async throws {
        let folder = try TestFolder(), path = AbsolutePath.resolved(folder.url.path)
        try FileManager.default.createDirectory(atPath: path + "/real", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: path + "/real")
        for spelling in ["/real", "/real/", "//real", "/link", "/link/", "/./real", "/link/../real"] {
            let home = try UserFolders { ["HOME": "/h", "XDG_STATE_HOME": path + spelling][$0] }
            #expect(home.device == path + "/real/omvault-device" && home.state == path + "/real/omvault", "\(spelling)")
            let later = try UserFolders { ["HOME": "/h", "XDG_STATE_HOME": path + spelling + "/not/yet/"][$0] }
            #expect(later.device == path + "/real/not/yet/omvault-device", "\(spelling)")
        }
        #expect(AbsolutePath.resolved("/") == "")
        #expect(AbsolutePath.resolved("/no such folder//a/") == "/no such folder/a")
    }

    @Test(
        "a vault that was unlocked under one spelling of the state folder is locked under another",
        arguments: ["$HOME/.local/state/", "$HOME/./.local//state", "$HOME/link/.local/state"])
    func locked(spelling: String) async throws {
        let ran = try await bash(
            AgentTests.start + """
                ln -s "$HOME" link
                XDG_STATE_HOME="\(spelling)" unlock
                omvault -q lock
                XDG_STATE_HOME="\(spelling)" code omvault get item:f --no-input
                unlock
                code omvault get item:f --no-input
                XDG_STATE_HOME="\(spelling)" omvault -q lock
                code omvault get item:f --no-input
                """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        #expect(ran.output == "8\n0\n8\n", "\(ran.output)\(ran.errors)")
    }

    @Test("a session that was begun under one spelling of the state folder ends with a logout under another")
    func loggedOut() async throws {
        let ran = try await bash(
            AgentTests.start + """
                printf right > right
                omvault -q profile set work OfflineAuthAllowed=true
                omvault -q login enroll ada --profile work --password-from file:right --kdf-mem 8 --kdf-time 1
                XDG_STATE_HOME="$HOME/.local/state/" omvault -q login ada --password-from file:right --mode offline > said
                omvault login status --json | grep -c '"state":"valid"'
                omvault -q logout ada
                XDG_STATE_HOME="$HOME/.local/state/" omvault login status --json | grep -c '"state":"valid"' || true
                """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        #expect(ran.output == "1\n0\n", "\(ran.output)\(ran.errors)")
    }
}
