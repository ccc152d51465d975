// Frames against a running agent, which is strict, bounded and never ends because of a frame.

import COMSystem
import Foundation
import Glibc
import OMOnlineModel
import OMRecords
import OMSecrets
import OMSystem
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMItems
@testable import OMVault

@Suite("The agent's protocol", .onOwnThreads) struct ProtocolTests {
    /// Bodies that no client of ours sends.
    private static let malformed: [(what: String, bytes: [UInt8])] = {
        let paths = text("/a.omv") + text("/device")
        let id = [UInt8](repeating: 7, count: 16)
        let key = [UInt8](repeating: 9, count: 32)
        func unlock(_ keys: [UInt8]) -> [UInt8] {
            paths + id + [0, 0, 0, 1] + [0, 0, 0, 1] + [0, 0, 0, 1] + [0] + keys
        }
        func perform(_ request: [UInt8]) -> [UInt8] { frame(5, paths + request) }
        return [
            ("no magic", [1, 2, 3, 4, 5, 6, 7, 8]),
            ("half of the magic", [0x4F, 0x42, 1, 2, 0, 0, 0, 0]),
            ("a length of 1 GiB", frame(5, count: 1 << 30)),
            ("a length of 4 GiB", [0x4F, 0x41, AgentProtocol.version, 5, 255, 255, 255, 255]),
            ("a length just above the limit", frame(5, count: (17 << 20) + 1)),
            ("kind 0", frame(0)),
            ("kind 9", frame(9)),
            ("an answer's kind", frame(0x80)),
            ("kind 255", frame(255)),
            ("status with a body", frame(2, [0])),
            ("lock without a body", frame(4)),
            ("lock with a flag of 2", frame(4, [2, 0])),
            ("lock with bytes behind it", frame(4, [0, 0, 0])),
            ("lock of a path that is not absolute", frame(4, [0, 1] + text("a") + text(""))),
            ("lock of an empty path", frame(4, [0, 1] + text("") + text(""))),
            ("lock opened without a login", frame(6)),
            ("lock opened with half a login", frame(6, Array(id.prefix(8)))),
            ("lock opened with bytes behind it", frame(6, id + [0])),
            ("a path with a NUL", frame(4, [0, 1] + text("/a\0b") + text(""))),
            ("a path that is no UTF-8", frame(4, [0, 1, 0, 2, 0x2F, 0xFF] + text(""))),
            ("a path longer than its frame", frame(4, [0, 1, 255, 255, 0x2F])),
            ("a path of 5,000 bytes", frame(4, [0, 1] + text("/" + String(repeating: "a", count: 5_000)) + text(""))),
            ("unlock without keys' count", frame(3, paths + id)),
            ("unlock with a key cut short", frame(3, unlock([1, 0x03] + key.dropLast()))),
            ("unlock with an unknown level", frame(3, unlock([1, 0x04] + key))),
            ("unlock with a key of always", frame(3, unlock([1, 0x01] + key))),
            ("unlock with one level twice", frame(3, unlock([2, 0x03] + key + [0x03] + key))),
            ("unlock with levels out of order", frame(3, unlock([2, 0x03] + key + [0x02] + key))),
            ("unlock with bytes behind it", frame(3, unlock([1, 0x03] + key + [0]))),
            ("perform without a request", frame(5, paths)),
            ("an unknown request", perform([99])),
            ("an item name with a newline", perform([2] + text("a\nb"))),
            ("an update to type 0", update([2, 0, 0] + noTags)),
            ("an update to a type of a later version", update([2, 12, 0] + noTags)),
            ("an update that is neither set nor removed", update([3, 0] + noTags)),
            ("an update with an expiry cut short", update([0, 2, 0, 0] + noTags)),
            ("an update with a tag that has a comma", update([0, 0, 0, 0, 0, 1] + text("a,b") + [0, 0, 0, 0])),
            ("a large value without its file", update(large: [0, 0, 0, 9])),
            ("a large value without bytes", update(large: [0, 0, 0, 0])),
            ("a large value above 64 MiB", update(large: [4, 0, 0, 1])),
            ("an empty item name", perform([2] + text(""))),
            ("a field name with a slash", perform([3] + text("a") + text("b/c"))),
            ("add with an unknown level", perform([5] + text("a") + [1, 0x55, 0, 0])),
            ("add with a value longer than its frame", perform([5] + text("a") + [0, 0, 1] + text("f") + [0, 1, 0, 0])),
            ("add with one field twice", perform([5] + text("a") + [0, 0, 2] + field + field)),
            ("add with 257 fields", perform([5] + text("a") + [0, 1, 1] + manyFields(257))),
            ("the state of sync without its flag", frame(7, paths)),
            ("the state of sync with a flag of 2", frame(7, paths + [2])),
            ("an exchange with half a remote", frame(8, paths + [1])),
            ("an exchange with bytes behind it", frame(8, paths + [0, 0])),
            ("the state of sync, which is an answer", frame(0x8A, [0, 0, 0])),
            ("remembering key without a level", frame(0x40, paths)),
            ("remembering key of always", frame(0x40, paths + [0x01])),
            ("remembering key of an unknown level", frame(0x40, paths + [0x04])),
            ("remembering key with bytes behind it", frame(0x40, paths + [0x03, 0])),
            ("a remembering key, which is an answer", frame(0xC0, key)),
            ("a session of a ledger that is no path", frame(0x51, text("state") + text("/d") + names)),
            ("a session of a profile with a slash", frame(0x51, paths + text("s") + text("a/b") + text("") + text("u"))),
            ("a session without a user", frame(0x51, paths + text("s") + text("p") + text("") + text(""))),
            ("a session with bytes behind it", frame(0x51, paths + names + [0])),
            (
                "a session of a server with 4,201 bytes",
                frame(0x51, paths + text(String(repeating: "s", count: 4_201)) + text("p") + text("") + text("u"))
            ),
            ("a session with half a profile", frame(0x50, kept.dropLast(16))),
            ("a session that went a third way", frame(0x50, kept + [2, 0, 0, 0, 10, 0, 0])),
            ("a session with a time-out of 0", frame(0x50, kept + [0, 0, 1] + zero + [0, 10, 0, 0])),
            ("a session with a time-out of 2^63", frame(0x50, kept + [0, 0, 0, 1, 128] + zero.dropLast() + [10, 0, 0])),
            ("a session that warns at 0", frame(0x50, kept + [0, 0, 0, 0, 0, 0, 0])),
            ("a session that warns at 100", frame(0x50, kept + [0, 0, 0, 0, 100, 0, 0])),
            ("a session with a fourth way to release tokens", frame(0x50, kept + [0, 0, 0, 0, 10, 3, 0])),
            ("a session with half a service", frame(0x50, kept + [0, 0, 0, 0, 10, 0, 1, 0, 0, 1])),
            ("renewing with a flag of 2", frame(0x52, paths + names + [2])),
            ("ending without a flag", frame(0x53, paths + names)),
            ("ending with half a password", frame(0x53, paths + names + [1, 1, 0, 0, 0, 9, 65])),
            ("the list of sessions with a body", frame(0x54, [0])),
            ("a token without a question", frame(0x55, paths + names)),
            ("a token that lives for more than ten years", frame(0x55, paths + names + [0, 0, 18, 204, 3, 1, 0, 0, 0])),
            ("a token with a flag of 2", frame(0x55, paths + names + [0, 0] + [0, 0, 0, 60, 0, 0, 2])),
            (
                "a token with a scope twice",
                frame(0x55, paths + names + [0, 2] + text("a") + text("a") + [0, 0, 0, 60, 0, 0, 0])
            ),
            ("a token with a blank in a scope", frame(0x55, paths + names + [0, 1] + text("a b") + [0, 0, 0, 60, 0, 0, 0])),
            ("a given token", frame(0xD5, [0, 0, 0, 1, 65, 0, 0, 0, 0])),
            ("an answer about a session", frame(0xD1)),
            ("update with a revision cut short", perform([6] + text("a") + [0, 0, 0, 0, 1, 0, 0])),
            ("find without a word", perform([15, 0, 0, 0])),
            ("find with a flag of 2", perform([15, 2, 0, 1] + text("a"))),
            ("find with an empty word", perform([15, 0, 0, 1] + text(""))),
            ("find with a word of 1,025 bytes", perform([15, 0, 0, 1] + text(String(repeating: "a", count: 1025)))),
            ("find with 17 words", perform([15, 0, 0, 17] + (0..<17).flatMap { _ in text("a") })),
            ("find with a capital, which has another spelling", perform([15, 0, 0, 1] + text("aB"))),
            ("find with a word cut short", perform([15, 0, 0, 1, 0, 2, 65])),
            ("names with a flag of 2", perform([21, 2])),
            ("names with bytes behind them", perform([21, 0, 0])),
            ("find names without a word", perform([22, 0, 0, 0])),
            ("find in a field with a slash", perform([15, 0, 1, 1, 0, 0, 0, 1] + text("b/c") + [1] + text("a"))),
        ]
    }()

    private static let paths = text("/s") + text("/d")
    private static let names = text("s") + text("p") + text("") + text("u")
    private static let kept = paths + names + [UInt8](repeating: 7, count: 32)
    /// An update of the item `a` without values and names of fields. `rest` begins with the type.
    private static func update(_ rest: [UInt8]) -> [UInt8] {
        let head: [UInt8] = paths + [6] + text("a")
        let names = [UInt8](repeating: 0, count: 16)
        return frame(5, head + names + rest + [0])
    }
    /// An update with one large value of `count` bytes.
    private static func update(large count: [UInt8]) -> [UInt8] {
        let value = [0, 0, 0, 1] + text("f") + count + [UInt8](repeating: 0, count: 64)
        return frame(5, paths + [6] + text("a") + value + [UInt8](repeating: 0, count: 12) + [0, 0] + noTags + [0])
    }
    private static let noTags = [UInt8](repeating: 0, count: 8)
    private static let zero = [UInt8](repeating: 0, count: 8)
    private static let field = text("f") + [0, 0, 0, 1, 65]
    private static func text(_ text: String) -> [UInt8] {
        [UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 255)] + Array(text.utf8)
    }
    private static func manyFields(_ count: Int) -> [UInt8] { (0..<count).flatMap { text("f\($0)") + [0, 0, 0, 0] } }

    @Test("a client refuses names that no item can have, and names out of order")
    func malformedNames() throws {
        func decodes(_ lines: String..., count: Int? = nil) -> Bool {
            decodes(lines.flatMap { Array($0.utf8) }, count: count)
        }
        func decodes(_ lines: [UInt8], count: Int? = nil) -> Bool {
            let length = count ?? lines.count
            let body = [12, 0, 0, UInt8(length >> 8), UInt8(length & 255)] + lines + [0, 0, 0, 0]
            return (try? AgentReply.decode(FrameKind.reply.rawValue, body.span)) != nil
        }
        let long = String(repeating: "a", count: 255)
        #expect(decodes(""))
        #expect(decodes("a\n", "a\n", long + "\n", "ab\n", "\u{a0}\n", "\u{1f511}\n"))
        let refused = [
            "\n", "a", "a\nb", "a\n\n", "b\na\n", "ab\na\n", "\u{80}\n", "\u{9f}\n", "a\tb\n", "\0\n", "\u{7f}\n", long + "a\n",
        ]
        for lines in refused {
            #expect(!decodes(lines), "\(lines.debugDescription)")
        }
        for lines in [[0xFF, 10], [0xC2, 10], [0xC2, 10, 0xA0, 10], [0xC0, 0x80, 10], [0xED, 0xA0, 0x80, 10]] as [[UInt8]] {
            #expect(!decodes(lines), "\(lines)")
        }
        #expect(!decodes("a\n", count: 1) && !decodes("a\n", count: 3) && !decodes("a\n", count: 60_000))
    }

    @Test("the agent refuses every malformed frame and continues to serve")
    func malformed() throws {
        let home = try AgentHome()
        let before = try home.process()
        #expect(Self.malformed.count >= 32)
        for (what, bytes) in Self.malformed {
            let raw = try RawClient(home)
            raw.send(bytes)
            #expect(raw.receive() == frame(0x83), "\(what)")
        }
        #expect(try home.process() == before)
    }

    @Test("R45: a length of 1 GiB costs no memory")
    func hugeLength() throws {
        let home = try AgentHome()
        let process = try home.process()
        let before = try residentKiB(process)
        let raws = try (0..<32).map { _ in try RawClient(home) }
        for raw in raws { raw.send(frame(5, count: 1 << 30)) }
        for raw in raws { #expect(raw.receive() == frame(0x83)) }
        // The largest allowed length, announced and not sent.
        let waiting = try (0..<32).map { _ in try RawClient(home) }
        for raw in waiting { raw.send(frame(5, [0], count: 17 << 20)) }
        #expect(try home.process() == process)
        #expect(try residentKiB(process) < before + (32 << 10))
    }

    @Test("R45: the agent serves 64 clients at once, answers busy to the next, and serves it when a client leaves")
    func clients() throws {
        let home = try AgentHome()
        #expect(AgentProtocol.maximumClients == 64)
        var served: [RawClient] = []
        repeat {
            // Repeat if this took so long that the agent closed the first connections.
            served = []
            served = try (0..<64).map { _ in try RawClient(home) }
            for raw in served { raw.send(frame(0x02)) }
            for raw in served {
                #expect(raw.receive(8)?.starts(with: [0x4F, 0x41, AgentProtocol.version, 0x84]) == true)
            }
            let next = try RawClient(home)
            let answer = next.receive()
            if served.allSatisfy(\.isOpen) { #expect(answer == frame(0x82)) }
        } while !served.allSatisfy(\.isOpen)
        _ = served.popLast()
        // The client tries again until the agent has noticed the closed connection.
        #expect(try home.client.status().vaults.isEmpty)
        #expect(served.count == 63)
    }

    @Test("R45: 200 silent connections do not delay other clients, and are closed after 5 seconds")
    func halfOpen() async throws {
        let home = try AgentHome()
        let process = try home.process()
        let raws = try (0..<200).map { _ in try RawClient(home) }
        try await eventually { (try? home.process()) == process }
        // The agent served 64 and closed them without an answer. It told the others at once that it is busy.
        var answers: [[UInt8]: Int] = [:]
        for raw in raws { answers[try #require(raw.receive()), default: 0] += 1 }
        #expect(answers[[], default: 0] <= 64)
        #expect(answers[[], default: 0] + answers[frame(0x82), default: 0] == 200)
    }

    @Test("a frame that arrives byte by byte is cut off after its time-out")
    func slowSender() throws {
        let home = try AgentHome()
        let raw = try RawClient(home)
        let start = om_boot_milliseconds()
        let slow = frame(5, [UInt8](repeating: 0, count: 1000))
        var position = 0
        // Send one byte after each 100 ms without an answer.
        while raw.receive(1, within: 100) == nil, position < slow.count {
            raw.send([slow[position]])
            position += 1
        }
        // The cut comes after the time-out, and long before the frame is complete, which would take 100 s.
        #expect(om_boot_milliseconds() - start > 4_500 && position < slow.count)
        #expect(try home.process() > 0)
    }

    @Test("a frame of another version is answered with our version and not read, but step down is obeyed in any version")
    func versions() async throws {
        let home = try AgentHome()
        let process = try home.process()
        let raw = try RawClient(home)
        raw.send(frame(5, [1, 2, 3], version: 9))
        #expect(raw.receive() == frame(0x81, [AgentProtocol.version]))
        #expect(try home.process() == process)
        let last = try RawClient(home)
        last.send(frame(1, version: 9))
        #expect(last.receive() == frame(0x80))
        #expect(throws: AgentError.notRunning) { try home.client.status() }
        // A process closes its files first, and is gone a moment later.
        try await eventually { kill(process, 0) != 0 || isZombie(process) }
    }

    @Test("every error reads the same at the other end")
    func errors() throws {
        let name = try ItemName("a")
        let field = try FieldName("f")
        let errors: [VaultError] = [
            .noVault, .vaultExists, .cannotUnlock, .deviceKeyMissing, .otherDeviceKey, .corrupt(.tree),
            .rolledBack(.level), .unseenHere, .readOnlyHere, .levelLocked(.highest), .rekeyed, .noItem(name),
            .ambiguous(name, [.whenUnlocked, .highest]), .noField(field, of: name), .itemExists(name),
            .fieldExists(field), .changedMeanwhile(name, revision: 7), .unchanged, .tooLarge, .mistypedRecoveryCode,
            .invalidItemName, .invalidFieldName, .outOfMemory, .unsupportedStretch, .storage(.missing),
            .storage(.exists), .storage(.hazardous(.otherOwner, path: "/x")), .storage(.corrupt),
            .storage(.laterFormat(3)), .storage(.busy), .storage(.io(28)), .storage(.deviceKeyMissing),
            .storage(.deviceKeyDamaged), .delayed(seconds: 7), .staleLogin(3), .noSlot(4), .lastSlot, .onlyLoginSlots,
            .tooManySlots, .tooManyPasswordSlots, .slotChanged(5), .policyOutOfBounds, .noRevision(9, of: name),
            .malformedKeyFile,
            .noLogHere, .vaultKnownHere, .invalidTag, .invalidExpiry, .notShowable(field), .laterContent, .tooMuchAtOnce,
            .vaultSyncs, .changedMeaning(name),
            .largeValue(count: 67_108_864, revision: 9, digest: [UInt8](repeating: 6, count: 32)),
            .ambiguousID([
                EntryReference(
                    level: .whenUnlocked, entry: [UInt8](repeating: 1, count: 16),
                    item: Item(
                        name: name, level: .whenUnlocked, id: [UInt8](repeating: 2, count: 16), revision: 3, created: 4,
                        modified: 5, isTrashed: true, fields: [Item.Field(name: field, count: 6)])),
                EntryReference(level: .highest, entry: [UInt8](repeating: 7, count: 16), item: nil),
            ]),
        ]
        for error in errors {
            var body = SecretBuffer()
            body.write(error)
            let again = try body.withBytes { bytes in
                var wire = WireReader(bytes)
                let error = try wire.read(VaultError.self)
                try wire.end()
                return error
            }
            #expect(again == error)
        }
    }

    @Test("every ending of a session reads the same at the other end, and a contradictory ending is refused")
    func endings() throws {
        func read(_ body: borrowing SecretBytes) throws -> SessionEnding {
            try body.withBytes { bytes in
                var wire = WireReader(bytes)
                let ending = try wire.read(SessionEnding.self)
                try wire.end()
                return ending
            }
        }
        let endings: [SessionEnding] = [
            .notThere, .endedHere, .endedAtServer, .endedHereOnly(.unreachable(.timedOut)), .endedHereOnly(.failed(.noLogout)),
            .overtaken,
        ]
        var refusals: [[UInt8]] = []
        for ending in endings {
            var buffer = SecretBuffer()
            buffer.write(ending)
            let body = buffer.finish()
            #expect(try read(body) == ending)
            refusals.append(body.withBytes { bytes in bytes.indices.map { bytes[$0] } })
        }
        // How it ended, whether the server was asked, whether a refusal follows.
        let (late, noAddress) = (Array(refusals[3].dropFirst(3)), Array(refusals[4].dropFirst(3)))
        #expect(refusals[3].prefix(3) == [1, 1, 1] && refusals[4].prefix(3) == [1, 0, 1])
        for bad in [
            [0, 1, 0], [2, 1, 0], [3, 0, 0], [0, 0, 1] + late, [1, 0, 1] + late, [2, 1, 1] + late, [1, 1, 1] + noAddress,
            [0, 0, 1] + noAddress,
        ] {
            #expect(throws: MalformedBytes.self, "\(bad)") { try read(SecretBytes(copying: bad.span)) }
        }
    }

    private func residentKiB(_ process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(line.split(separator: " ").dropLast().last.flatMap { Int($0) })
    }

    private func isZombie(_ process: Int32) -> Bool {
        (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8))?.contains(") Z ") ?? true
    }
}
