// The files that limit how many stretches run at once on a machine. Each test has its own folder for them.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import OMSecrets

@Suite("Stretch slots") struct StretchPermitTests {
    @Test("a stretch waits while every slot is taken, and continues when a slot is free")
    func waitsForSlot() async throws {
        let folder = try TestFolder()
        let slots = StretchPermit.openAll(in: folder.path)
        for slot in slots { #expect(flock(slot, LOCK_EX) == 0) }
        let path = folder.path, ended = Atomic(false)
        async let stretch: Void = onOwnThread {
            StretchPermit.hold(in: path, longestWait: .max) {}
            ended.store(true, ordering: .sequentiallyConsistent)
        }
        // The stretch has opened every slot once more, and waits. Load can only make this silence longer.
        try await eventually { try openSlots(in: path) == 2 * slots.count || ended.load(ordering: .sequentiallyConsistent) }
        try await Task.sleep(for: .milliseconds(300))
        let hasEnded = ended.load(ordering: .sequentiallyConsistent)
        #expect(!hasEnded, "it did not wait")
        flock(slots[0], LOCK_UN)
        await stretch
        slots.forEach { _ = close($0) }
    }

    @Test("a stretch continues without a slot after the longest wait")
    func goesAhead() async throws {
        let folder = try TestFolder()
        let slots = StretchPermit.openAll(in: folder.path)
        for slot in slots { #expect(flock(slot, LOCK_EX) == 0) }
        #expect(StretchPermit.hold(in: folder.path, longestWait: 1) { 7 } == 7)
        slots.forEach { _ = close($0) }
    }

    @Test("every user can open the slot files, whatever the umask of the process that made them")
    func modeDespiteUmask() async {
        await #expect(processExitsWith: .success) {
            umask(0o077)
            let folder = try TestFolder()
            StretchPermit.openAll(in: folder.path).forEach { _ = close($0) }
            let modes = try slotModes(in: folder)
            guard !modes.isEmpty, modes.allSatisfy({ $0 == 0o444 }) else { throw Unexpected("\(modes)") }
        }
    }

    @Test("a user's own slot file with another mode is repaired, and a file with bytes or a second name stays unchanged")
    func repair() async throws {
        let folder = try TestFolder()
        StretchPermit.openAll(in: folder.path).forEach { _ = close($0) }
        let slot = "\(folder.path)/omvault-stretch-0"
        func modeAfterOpening() -> mode_t? {
            #expect(chmod(slot, 0o400) == 0)
            StretchPermit.openAll(in: folder.path).forEach { _ = close($0) }
            return mode(of: slot)
        }
        #expect(modeAfterOpening() == 0o444)
        #expect(link(slot, "\(folder.path)/second-name") == 0)
        #expect(modeAfterOpening() == 0o400)
        #expect(unlink("\(folder.path)/second-name") == 0)
        chmod(slot, 0o600)
        let file = open(slot, O_WRONLY)
        #expect(write(file, "x", 1) == 1)
        close(file)
        #expect(modeAfterOpening() == 0o400)
    }
}

private func mode(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
}

/// The number of this process's descriptors that are slots of a folder.
private func openSlots(in folder: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name))?.hasPrefix(folder + "/") == true
    }
}

/// The modes of the slot files in a folder that replaces `/run/lock`.
private func slotModes(in folder: TestFolder) throws -> [mode_t] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).map { name in
        guard name.hasPrefix("omvault-stretch-"), let mode = mode(of: folder.file(name)) else { throw Unexpected(name) }
        return mode
    }
}
