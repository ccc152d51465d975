// The state folder under several spellings. The dialogues are in Tests/Transcripts/state-folder.md.

import Foundation
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

@Suite("Spellings of a folder") struct FolderSpellingTests {
    @Test("links, dots and slashes in the state folder's path are resolved, even before the folder exists")
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
}
