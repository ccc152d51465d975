import Glibc
import Testing

@testable import OMSecrets

@Suite("Stretching") struct Argon2idTests {
    @Test(
        "work factors outside the bounds are refused before anything is allocated",
        arguments: [
            (UInt32.max, 3, 1),  // 4 TiB
            (0, 3, 1), ((8 << 10) - 1, 3, 1), ((1 << 20) + 1, 3, 1),
            (8 << 10, 0, 1), (8 << 10, 17, 1), (8 << 10, .max, 1),
            (8 << 10, 1, 0), (8 << 10, 1, 5), (8 << 10, 1, .max),
        ] as [(UInt32, UInt32, UInt32)])
    func outOfBounds(memory: UInt32, passes: UInt32, lanes: UInt32) {
        #expect(refusal(memory, passes, lanes) == .stretchOutOfBounds)
    }

    @Test("lanes within the bounds are read, but not computed by this build", arguments: [2, 3, 4] as [UInt32])
    func lanes(count: UInt32) throws {
        let parameters = try Argon2id.Parameters(memoryKiB: 8 << 10, passes: 1, lanes: count)
        #expect(throws: SecretsError.lanesUnsupported) {
            _ = try Argon2id.stretch(SecretBytes("password"), salt: Array("somesaltsomesalt".utf8), parameters)
        }
    }

    @Test("the ends of the bounds are within them", arguments: [(8 << 10, 1), (1 << 20, 16)] as [(UInt32, UInt32)])
    func ends(memory: UInt32, passes: UInt32) {
        #expect(refusal(memory, passes, 1) == nil)
    }

    @Test(
        "libargon2 gives the same keys",
        arguments: [
            // libargon2 20171227: argon2id_hash_raw(passes, memory, 1, password, "somesaltsomesalt", 32 bytes)
            ("password", 8192, 1, "84fb006bbc3cd69895722b64b5bf735251a9e8e9f3ecb93ff595b98aeb7accb7"),
            ("password", 65536, 3, "7664ad4ba1a3c999fcdd0991ffc2270f78302d2383233db5e7befc85d1bb1819"),
            ("", 8192, 3, "6fa855da7bafda7df7f4d096768ed7697a38e5f6faa691b5d6ef351d70840c94"),
        ] as [(String, UInt32, UInt32, String)])
    func reference(password: String, memory: UInt32, passes: UInt32, expected: String) throws {
        let parameters = try Argon2id.Parameters(memoryKiB: memory, passes: passes)
        let key = try Argon2id.stretch(SecretBytes(password), salt: Array("somesaltsomesalt".utf8), parameters)
        #expect(key.bytes.hex == expected)
    }

    @Test("another password or another salt gives another key")
    func separation() throws {
        let salt = [UInt8](repeating: 1, count: 16)
        let key = try Argon2id.stretch(SecretBytes("a"), salt: salt, .floor)
        #expect(try key.bytes.exposed != Argon2id.stretch(SecretBytes("b"), salt: salt, .floor).bytes.exposed)
        let other = [UInt8](repeating: 2, count: 16)
        #expect(try key.bytes.exposed != Argon2id.stretch(SecretBytes("a"), salt: other, .floor).bytes.exposed)
    }

    @Test("a stretch waits while every slot of the machine is taken, and goes ahead when one is free")
    func waitsForSlot() throws {
        // The slots' files exist once somebody held one.
        StretchSlot.hold {}
        let slots = try slotFiles()
        for slot in slots { #expect(flock(slot, LOCK_EX) == 0) }
        let channel = try Channel()
        channel.sendFromThread(after: { StretchSlot.hold {} })
        #expect(!channel.receives(withinMilliseconds: 300), "it did not wait")
        flock(slots[0], LOCK_UN)
        #expect(channel.receives(withinMilliseconds: 30_000), "it waited for ever")
        slots.forEach { _ = close($0) }
    }

    private func refusal(_ memory: UInt32, _ passes: UInt32, _ lanes: UInt32) -> SecretsError? {
        OMSecretsTests.refusal { () throws(SecretsError) in
            _ = try Argon2id.Parameters(memoryKiB: memory, passes: passes, lanes: lanes)
        }
    }
}

private struct NoSlots: Error {}

private func slotFiles() throws -> [Int32] {
    var files: [Int32] = []
    while true {
        let file = open("/run/lock/omvault-stretch-\(files.count)", O_RDONLY | O_CLOEXEC)
        if file < 0 { break }
        files.append(file)
    }
    guard !files.isEmpty else { throw NoSlots() }
    return files
}

/// Tells one thread that another came to its end.
private final class Channel: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw NoSlots() }
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

    func receives(withinMilliseconds limit: Int32) -> Bool {
        var waiting = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, limit) == 1
    }

    private final class Message: Sendable {
        let channel: Channel
        let work: @Sendable () -> Void
        init(channel: Channel, work: @escaping @Sendable () -> Void) { (self.channel, self.work) = (channel, work) }
    }
}
