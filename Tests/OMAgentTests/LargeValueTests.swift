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
@testable import OMAgentProtocol
@testable import OMItems
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

    @Test("a value above 1 MiB goes into the vault through the agent, and comes out chunk by chunk")
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
                case .reply(.secret(let chunk)) = try home.client.perform(
                    home.paths, .chunk(index, of: path, revision: 1, digest: digest))
            else {
                Issue.record("no chunk \(index)")
                return
            }
            chunk.withBytes { bytes in #expect(bytes.indices.allSatisfy { bytes[$0] == 7 }) }
            read += chunk.count
        }
        #expect(read == count)
        guard case .failure(.noField) = try home.client.perform(home.paths, .chunk(5, of: path, revision: 1, digest: digest))
        else {
            Issue.record("a chunk behind the last")
            return
        }
    }

    @Test("the fields of an item keep the order in which they were given, large and small")
    func order() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        var change = ItemChange()
        for name in ["b", "L", "a", "M", "c"] {
            if name < "a" {
                try change.set.put(Self.spool(home, 1 << 20 | 1), at: FieldName(name))
            } else {
                try change.set.put(bytes(name), at: FieldName(name))
            }
        }
        guard case .reply(.changed(let item, _)) = try home.client.perform(home.paths, .add(ItemName("x"), level: nil, change))
        else {
            Issue.record("not added")
            return
        }
        #expect(item.fields.map(\.name.text) == ["b", "L", "a", "M", "c"])
    }

    @Test("an agent that is killed while it writes a value leaves none of it")
    func killedWriting() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        let value = try Self.spool(home, 8 << 20)
        // The kernel kills it (SIGXFSZ) when the vault's write-ahead log grows beyond 2 MiB.
        let limited = try runHere(
            ["/usr/bin/prlimit", "--pid", "\(home.process())", "--fsize=2097152"], in: home.folder)
        try #require(limited.status == 0, "\(limited.errors)")
        #expect(throws: AgentError.misbehaved) { _ = try Self.add(value, as: "big", to: home) }
        #expect(value.readCount > 0 && value.readCount < value.count)
        let vault = try home.open()
        #expect(try vault.items().count == ProtectionLevel.allCases.count)
        let report = try vault.verify(deep: true)
        #expect(report.findings.isEmpty && report.strays == 0, "\(report)")
    }

    @Test("an agent that is killed while it serves a chunk gives its start and nothing else, and the vault stays whole")
    func killedServing() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        let value = try Self.spool(home, 1 << 20 | 5)
        _ = try Self.add(value, as: "big", to: home)
        let path = try FieldPath(ItemName("big"), FieldName("f"))
        var body = SecretBuffer()
        body.write(home.paths)
        ItemRequest.chunk(0, of: path, revision: 1, digest: value.digest).encode(into: &body)
        let raw = try RawClient(home)
        raw.send(frame(5, body.withBytes { bytes in bytes.indices.map { bytes[$0] } }))
        // The socket has no room for the whole chunk, so the agent is still sending.
        try #require(raw.receive(4096)?.count ?? 0 >= 4096)
        kill(try home.process(), SIGKILL)
        let rest = raw.receive() ?? []
        #expect(rest.count < Vault.chunkCount - 8192 && rest.allSatisfy { $0 == 7 })
        let report = try home.open().verify(deep: true)
        #expect(report.findings.isEmpty && report.strays == 0, "\(report)")
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
        let value: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 1, 102, 0, 0, 0, 9] + [UInt8](repeating: 0, count: 64)
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

    @Test("a file on another file system than the vault's is refused, and its file system is never asked")
    func otherFileSystem() throws {
        let home = try AgentHome(in: TestFolder.disk)
        try home.makeVault()
        try home.unlock()
        let value = try Self.spool(home, 1 << 20)
        // In memory: the kernel's own file system.
        let copy = try UnnamedFile(in: "/dev/shm")
        var sealed = [UInt8](repeating: 0, count: 2 << 20)
        try copy.write(Array(sealed.prefix(pread(value.descriptor, &sealed, sealed.count, 0))), at: 0)
        let other = SpooledValue(received: copy, .random(), count: 1 << 20, digest: value.digest)
        guard case .failure(.storage(.io(EXDEV))) = try Self.add(other, as: "other", to: home) else {
            Issue.record("a file on another file system was taken")
            return
        }
        #expect(value.readCount == 0)
        guard case .reply(.changed) = try Self.add(value, as: "own", to: home) else {
            Issue.record("a file beside the vault was refused")
            return
        }
        // The client sees how far the agent has read.
        #expect(value.readCount == 1 << 20)
    }

    @Test("all connections together hold a limited number of descriptors, and the others are still served")
    func crowd() throws {
        let budget = DescriptorBudget(Int(OM_SENT_DESCRIPTORS))
        let file = open("/dev/null", O_RDONLY)
        defer { close(file) }
        func received(_ count: Int) throws(ChannelError) -> Frame? {
            var ends: [Int32] = [-1, -1]
            guard om_socket_pair(&ends) == 0 else { return nil }
            let sending = FrameChannel(ends[0]), receiving = FrameChannel(ends[1])
            let descriptors = [Int32](repeating: file, count: count)
            try sending.send(.status, SecretBuffer(), descriptors: descriptors, within: 5_000)
            return try receiving.receive(start: 5_000, frame: 5_000, descriptors: budget)
        }
        func kind(_ count: Int) throws -> UInt8? {
            guard let frame = try received(count) else { return nil }
            return frame.kind
        }
        func whileOneIsHeld() throws {
            guard let held = try received(1) else {
                Issue.record("no frame")
                return
            }
            #expect(throws: ChannelError.noDescriptors) { _ = try kind(1) }
            let plain = try kind(0)
            #expect(plain == FrameKind.status.rawValue)
            withExtendedLifetime(held.descriptors) {}
        }
        try whileOneIsHeld()
        // The first frame is gone, and its descriptors with it.
        let full = try kind(64)
        #expect(full == FrameKind.status.rawValue)
    }

    @Test("a frame with more descriptors than the protocol allows is refused")
    func tooManyDescriptors() async throws {
        let home = try AgentHome()
        let script = """
            import socket, sys
            end = socket.socket(socket.AF_UNIX)
            end.connect(sys.argv[1])
            socket.send_fds(end, [bytes.fromhex(sys.argv[2])], [0] * 65)
            print(hex(end.recv(8)[3]))
            """
        let bytes = frame(2).map { String(format: "%02x", $0) }.joined()
        let ran = try runHere(["/usr/bin/python3", "-c", script, home.root + "/run/agent.sock", bytes], in: home.folder)
        #expect(ran.output == "0x83\n" && ran.status == 0, "\(ran.output) \(ran.errors)")
    }

    private static func descriptors(of process: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }
}
