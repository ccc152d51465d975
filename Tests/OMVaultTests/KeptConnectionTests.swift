// An unlock that goes on over the connection that looked for the item at the `always` levels.

import Foundation
import TestSupport
import Testing

@testable import OMItems
@testable import OMVault

@Suite struct KeptConnectionTests {
    private let home: Home

    init() throws {
        home = try Home()
        try home.create()
        try home.add("old", ["x": "1"])
    }

    private func file(keepingConnection: Bool = true) throws -> VaultFile {
        try VaultFile.openWithAlways(home.vault, device: home.device()).intoFile(keepingConnection: keepingConnection)
    }

    private func unlock(_ file: borrowing VaultFile) throws -> Vault {
        try file.unlock(anyOf: KeySlot.tried(.password, of: file.slots)) { slot throws(VaultError) in
            try slot.key(stretching: secret("pass word"))
        }
    }

    @Test("a connection is kept only on request, and then the unlock opens no other one")
    func kept() throws {
        let closed = try file(keepingConnection: false)
        #expect(!FileManager.default.fileExists(atPath: home.vault + "-wal"))
        let kept = try file()
        #expect(FileManager.default.fileExists(atPath: home.vault + "-wal"))
        #expect(try kept.openConnection() === kept.openConnection())
        #expect(try closed.openConnection() !== closed.openConnection())
        #expect(try unlock(kept).value("old", "x") == "1")
    }

    @Test("a change that another process makes during the stretch is seen over a kept connection")
    func changed() throws {
        let file = try file()
        try home.add("new", ["x": "2"])
        #expect(try unlock(file).value("new", "x") == "2")
    }

    @Test("if the file is replaced during the stretch, the new file is unlocked, and an older one is noticed")
    func replaced() throws {
        try home.save("before")
        try home.add("new", ["x": "2"])
        let file = try file()
        try home.putBack("before")
        #expect(throws: VaultError.rolledBack(.level)) { _ = try unlock(file).value("new", "x") }
    }

    @Test("a file that is gone after the stretch is missing, and a kept connection opens nothing")
    func removed() throws {
        let file = try file()
        try FileManager.default.moveItem(atPath: home.vault, toPath: home.root + "/gone")
        #expect(throws: VaultError.noVault) { _ = try unlock(file) }
    }
}
