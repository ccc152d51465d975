import Foundation
import Glibc
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

@Suite("The default vault") struct DefaultVaultTests {
    private let folder: TestFolder
    private let vault: DefaultVault
    private let folders: UserFolders

    init() throws {
        let folder = try TestFolder()
        self.folder = folder
        folders = try UserFolders { $0 == "HOME" ? folder.path : nil }
        vault = DefaultVault(folders)
    }

    private var file: String { folder.file(".config/omvault/default-vault") }

    private func refusal() -> Failure? {
        do throws(Failure) {
            _ = try VaultLocation(nil, in: folders)
            return nil
        } catch { return error }
    }

    @Test("a chosen name is kept, in a file for this user only")
    func kept() throws {
        #expect(try vault.chosen() == nil)
        #expect(try vault.name() == "personal")
        for name in ["work", "a b", "ünïcode", String(repeating: "x", count: 200)] {
            try vault.choose(name)
            #expect(try VaultLocation(nil, in: folders).name == name)
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file(".config/omvault")) == ["default-vault"])
    }

    @Test("a file or folder of another user, or one that others can write to, chooses no vault")
    func others() throws {
        try vault.choose("work")
        let config = folder.file(".config/omvault")
        for (path, mode) in [(file, 0o620), (file, 0o602), (config, 0o720), (config, 0o702)] as [(String, mode_t)] {
            #expect(chmod(path, mode) == 0)
            #expect(refusal()?.status == .permission, "\(path) \(String(mode, radix: 8))")
            #expect(throws: Failure.self) { try vault.choose("personal") }
            #expect(chmod(path, path == file ? 0o600 : 0o700) == 0)
        }
        guard geteuid() == 0 else { return }
        for path in [file, config] {
            #expect(chown(path, 65534, 65534) == 0)
            #expect(refusal()?.status == .permission, "\(path)")
            #expect(throws: Failure.self) { try vault.choose("personal") }
            #expect(chown(path, 0, 0) == 0)
        }
        #expect(try vault.name() == "work")
    }

    @Test("a folder that others can write to chooses no vault either when the file is not there")
    func deleted() throws {
        try vault.choose("work")
        #expect(unlink(file) == 0 && chmod(folder.file(".config/omvault"), 0o777) == 0)
        #expect(refusal()?.status == .permission)
    }

    @Test("a link, a folder or a pipe in place of the file chooses no vault, and no command waits for it")
    func kinds() throws {
        try vault.choose("work")
        try folder.write("work\n", to: "elsewhere")
        for make in [
            { symlink(folder.file("elsewhere"), file) }, { mkdir(file, 0o700) }, { mkfifo(file, 0o600) },
        ] {
            #expect(remove(file) == 0 && make() == 0)
            #expect(refusal()?.status == .permission)
        }
    }

    @Test(
        "anything but one name and a newline chooses no vault",
        arguments: [
            [], [0x0A], Array("work".utf8), Array("work\npersonal\n".utf8), Array("work\n\n".utf8), Array("work\r\n".utf8),
            Array("../work\n".utf8), Array("/tmp/work\n".utf8), Array("work.omv\n".utf8), Array(".work\n".utf8),
            Array("wo\0rk\n".utf8), [0xFF, 0x0A], Array("wo\u{1B}[1mrk\n".utf8), Array("wo\u{202E}rk\n".utf8),
            [UInt8](repeating: 0x61, count: 300) + [0x0A],
        ] as [[UInt8]])
    func content(bytes: [UInt8]) throws {
        try vault.choose("work")
        try Data(bytes).write(to: URL(filePath: file))
        #expect(chmod(file, 0o600) == 0)
        #expect(refusal()?.status == .corrupt)
        // A name that is given needs no file, and choosing again repairs it.
        #expect(try VaultLocation("home", in: folders).name == "home")
        try vault.choose("home")
        #expect(try vault.name() == "home")
    }

    @Test("a write that is killed leaves the old name or the new one")
    func torn() async throws {
        let ran = try await bash(
            """
            printf password > password
            for name in personal work; do
                omvault -q vault create $name --password-from file:password --no-recovery --kdf-mem 8 --kdf-time 1
            done
            omvault -q vault default personal
            for call in pwrite64 fdatasync rename fsync; do
                n=0
                while n=$((n + 1)); do
                    strace -f -qq -o trace -e trace=$call -e inject=$call:signal=KILL:when=$n \\
                        omvault -q vault default work > /dev/null 2>&1
                    grep -q 'killed by SIGKILL' trace || break
                    omvault vault default
                    omvault -q vault default personal
                done
            done
            """)
        let names = ran.output.split(separator: "\n").map(String.init)
        #expect(!names.isEmpty && names.allSatisfy { ["personal", "work"].contains($0) }, "\(ran)")
    }
}
