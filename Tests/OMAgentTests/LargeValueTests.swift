// Values above 1 MiB through the agent: their files come as descriptors, and go with the frame.

import COMSystem
import Foundation
import Glibc
import OMRecords
import OMSecrets
import OMSystem
import TestSupport
import Testing

@testable import OMAgent
@testable import OMVault

@Suite("Large values through the agent", .onOwnThreads) struct LargeValueTests {
    private static func spool(_ home: AgentHome, _ count: Int) throws -> SpooledValue {
        var spool = try ValueSpool(besideVault: home.vault)
        try spool.append([UInt8](repeating: 7, count: count).span)
        return try spool.finish()
    }

    private static func add(_ value: SpooledValue, as name: String, to home: AgentHome) throws -> AgentItemReply {
        var change = ItemChange()
        try change.set.put(value, at: FieldName("f"))
        return try home.client.perform(home.paths, .add(ItemName(name), level: nil, change))
    }

    @Test("a value above 1 MiB goes into the vault through the agent, and comes out piece by piece")
    func through() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        let count = 1 << 20 | 5
        guard case .reply(.changed) = try Self.add(try Self.spool(home, count), as: "big", to: home) else {
            Issue.record("not added")
            return
        }
        let path = try FieldPath(ItemName("big"), FieldName("f"))
        guard case .reply(.large(count, 1, let digest)) = try home.client.perform(home.paths, .secret(path, revision: nil)) else {
            Issue.record("not large")
            return
        }
        var read = 0
        for index in 0..<5 {
            guard
                case .reply(.secret(let piece)) = try home.client.perform(
                    home.paths, .piece(index, of: path, revision: 1, digest: digest))
            else {
                Issue.record("no piece \(index)")
                return
            }
            piece.withBytes { bytes in #expect(bytes.indices.allSatisfy { bytes[$0] == 7 }) }
            read += piece.count
        }
        #expect(read == count)
        guard case .failure(.noField) = try home.client.perform(home.paths, .piece(5, of: path, revision: 1, digest: digest))
        else {
            Issue.record("a piece behind the last")
            return
        }
    }

    @Test("a file that is cut short, or sealed under another key, adds nothing")
    func damaged() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        let short = try Self.spool(home, 2 << 20)
        #expect(ftruncate(short.descriptor, 1 << 20) == 0)
        guard case .failure(.storage(.io(EBADMSG))) = try Self.add(short, as: "short", to: home) else {
            Issue.record("a short file was taken")
            return
        }
        let longer = try Self.spool(home, 1 << 20)
        let more = SpooledValue(
            received: UnnamedFile(received: dup(longer.descriptor))!, .random(), count: 1 << 20, digest: longer.digest)
        guard case .failure(.storage(.io(EBADMSG))) = try Self.add(more, as: "more", to: home) else {
            Issue.record("a foreign file was taken")
            return
        }
        let other = try Self.spool(home, 1 << 20)
        let changed = other.withKey { key in
            SpooledValue(
                received: UnnamedFile(received: dup(other.descriptor))!, key.duplicate(), count: 1 << 20,
                digest: [UInt8](repeating: 0, count: 32))
        }
        guard case .failure(.storage(.io(EBADMSG))) = try Self.add(changed, as: "changed", to: home) else {
            Issue.record("a value of another digest was taken")
            return
        }
        #expect(try home.open().items().count == ProtectionLevel.allCases.count)
    }

    @Test("a pipe instead of a file is refused, and descriptors that no request needs are closed")
    func otherDescriptors() async throws {
        let home = try AgentHome()
        let process = try home.process()
        let before = try Self.descriptors(of: process)
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        let text: [UInt8] = [0, 1, 97]
        let value: [UInt8] = [0, 0, 0, 1, 0, 1, 102, 0, 0, 0, 9] + [UInt8](repeating: 0, count: 64)
        let update = [0, 2, 47, 115, 0, 2, 47, 100, 6] + text + value + [UInt8](repeating: 0, count: 12 + 2 + 8 + 1)
        for (descriptors, frame) in [([ends[0]], frame(5, update)), ([Int32](repeating: ends[1], count: 64), frame(2))] {
            let raw = try RawClient(home)
            let sent = frame.withUnsafeBytes { bytes in
                om_socket_send_descriptors(raw.descriptor, bytes.baseAddress, bytes.count, descriptors, descriptors.count)
            }
            #expect(sent == frame.count)
            #expect(try #require(raw.receive(4))[3] == (frame[3] == 5 ? 0x83 : 0x84))
        }
        #expect(try home.process() == process)
        // A connection that its client has closed is closed a moment later.
        try await eventually { (try? Self.descriptors(of: process)) ?? .max <= before }
    }

    private static func descriptors(of process: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }
}
