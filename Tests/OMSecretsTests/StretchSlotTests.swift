// The files that limit how many stretches run at once on a machine. Each test has a folder of its own for them.

import Glibc
import Testing

@testable import OMSecrets

@Suite("Stretch slots") struct StretchSlotTests {
    @Test("a stretch waits while every slot is taken, and goes ahead when one is free")
    func waitsForSlot() async throws {
        let folder = try SlotFolder()
        let slots = StretchSlot.openAll(in: folder.path)
        for slot in slots { #expect(flock(slot, LOCK_EX) == 0) }
        let channel = try Channel()
        let path = folder.path
        channel.sendFromThread(after: { StretchSlot.hold(in: path, longestWait: .max) {} })
        // Load can only make this silence longer.
        #expect(!channel.receives(within: 300), "it did not wait")
        flock(slots[0], LOCK_UN)
        #expect(channel.receives())
        slots.forEach { _ = close($0) }
    }

    @Test("a stretch goes ahead without a slot after the longest wait")
    func goesAhead() async throws {
        let folder = try SlotFolder()
        let slots = StretchSlot.openAll(in: folder.path)
        for slot in slots { #expect(flock(slot, LOCK_EX) == 0) }
        #expect(StretchSlot.hold(in: folder.path, longestWait: 1) { 7 } == 7)
        slots.forEach { _ = close($0) }
    }

    @Test("every user can open the slot files, whatever the umask of the process that made them")
    func modeDespiteUmask() async {
        await #expect(processExitsWith: .success) {
            umask(0o077)
            let folder = try SlotFolder()
            StretchSlot.openAll(in: folder.path).forEach { _ = close($0) }
            let modes = try folder.modes()
            guard !modes.isEmpty, modes.allSatisfy({ $0 == 0o444 }) else { throw Unexpected() }
        }
    }

    @Test("a slot file of one's own with another mode is repaired; a file with bytes or a second name is left alone")
    func repair() async throws {
        let folder = try SlotFolder()
        StretchSlot.openAll(in: folder.path).forEach { _ = close($0) }
        let slot = "\(folder.path)/omvault-stretch-0"
        func modeAfterOpening() -> mode_t? {
            #expect(chmod(slot, 0o400) == 0)
            StretchSlot.openAll(in: folder.path).forEach { _ = close($0) }
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

private struct Unexpected: Error {}

private func mode(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
}

/// A folder in the place of `/run/lock`, gone with the test.
private final class SlotFolder {
    let path: String

    init() throws {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/omvault-slots-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Unexpected() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    func modes() throws -> [mode_t] {
        try names.map { name in
            guard let mode = mode(of: "\(path)/\(name)") else { throw Unexpected() }
            return mode
        }
    }

    private var names: [String] { (0..<1024).map { "omvault-stretch-\($0)" }.filter { access("\(path)/\($0)", F_OK) == 0 } }
}

/// Tells one thread that another came to its end.
private final class Channel: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Unexpected() }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func sendFromThread(after work: @escaping @Sendable () -> Void) {
        let message = Message(channel: self, work: work)
        var thread = pthread_t()
        let made = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let message = Unmanaged<Message>.fromOpaque(argument).takeRetainedValue()
                message.work()
                write(message.channel.writeEnd, "x", 1)
                return nil
            }, Unmanaged.passRetained(message).toOpaque())
        #expect(made == 0)
        pthread_detach(thread)
    }

    /// - Parameter limit: in milliseconds; -1 waits for the message, however long it takes.
    func receives(within limit: Int32 = -1) -> Bool {
        var waiting = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, limit) == 1
    }

    private final class Message: Sendable {
        let channel: Channel
        let work: @Sendable () -> Void
        init(channel: Channel, work: @escaping @Sendable () -> Void) { (self.channel, self.work) = (channel, work) }
    }
}
