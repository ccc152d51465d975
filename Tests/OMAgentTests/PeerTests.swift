// Who is at the other end of the agent's socket: the kernel says so, to the agent and to its client.

import Foundation
import Glibc
import OMRecords
import TestSupport
import Testing

@testable import OMAgent

@Suite("The other end's user", .enabled(if: geteuid() == 0, "only root can be two users")) struct PeerTests {
    private static let nobody: UInt32 = 65534

    @Test("the agent answers its own user, and closes the connection of another user without a word")
    func agent() async throws {
        let home = try AgentHome()
        // Attack: the folders' modes went wrong, so that any user reaches the socket.
        for (path, mode) in [("", 0o755), ("/run", 0o755), ("/run/agent.sock", 0o666)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: home.root + path)
        }
        let asks = """
            import os, socket, sys
            os.setgroups([]); os.setuid(int(sys.argv[2]))
            c = socket.socket(socket.AF_UNIX); c.settimeout(60); c.connect(sys.argv[1])
            try: c.sendall(bytes.fromhex(sys.argv[3])); print(c.recv(4).hex() or 'nothing', flush=True)
            except (BrokenPipeError, ConnectionResetError): print('nothing', flush=True)
            """
        let status = frame(0x02).map { String(format: "%02x", $0) }.joined()
        func answer(to user: UInt32) async throws -> String? {
            var lines = try python(asks, home.root + "/run/agent.sock", "\(user)", status).makeAsyncIterator()
            return await lines.next()
        }
        #expect(try await answer(to: 0) == String(format: "4f41%02x84", AgentProtocol.version))
        #expect(try await answer(to: Self.nobody) == "nothing")
        #expect(try await answer(to: 0) == String(format: "4f41%02x84", AgentProtocol.version))
    }

    @Test("a client says nothing to a listener of another user, and its error names that user")
    func client() async throws {
        let folder = try TestFolder()
        // The user who listens is the one that the kernel names, whoever made the socket.
        let listens = """
            import os, socket, sys
            s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.setuid(int(sys.argv[2])); s.listen(8); s.settimeout(60)
            print('ready', flush=True)
            c, _ = s.accept(); print(len(c.recv(100)), flush=True)
            """
        var lines = try python(listens, folder.file("agent.sock"), "\(Self.nobody)").makeAsyncIterator()
        #expect(await lines.next() == "ready")
        let client = AgentClient(try AgentSocket(path: folder.file("agent.sock")))
        #expect(throws: AgentError.otherUser(Self.nobody)) { _ = try client.status() }
        #expect(await lines.next() == "0")
    }

    /// The lines that a Python program prints, until it ends.
    private func python(_ script: String, _ arguments: String...) throws -> AsyncStream<String> {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script] + arguments
        process.standardOutput = output
        let (lines, more) = AsyncStream.makeStream(of: String.self)
        output.fileHandleForReading.readabilityHandler = { handle in
            let piece = handle.availableData
            for line in String(decoding: piece, as: UTF8.self).split(separator: "\n") { more.yield(String(line)) }
            guard piece.isEmpty else { return }
            handle.readabilityHandler = nil
            more.finish()
        }
        try process.run()
        return lines
    }
}
