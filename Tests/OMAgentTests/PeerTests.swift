// The user at the other end of the agent's socket, as the kernel reports it to the agent and to its client.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("The user behind a socket", .onOwnThreads, .enabled(if: geteuid() == 0, "only root can be two users")) struct PeerTests {
    private static let nobody: UInt32 = 65534

    @Test("the agent answers its own user, and closes another user's connection without an answer")
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
            try await python(asks, home.root + "/run/agent.sock", "\(user)", status).line()
        }
        #expect(try await answer(to: 0) == String(format: "4f41%02x84", AgentProtocol.version))
        #expect(try await answer(to: Self.nobody) == "nothing")
        #expect(try await answer(to: 0) == String(format: "4f41%02x84", AgentProtocol.version))
    }

    @Test("a client sends nothing to a listener of another user, and its error names that user")
    func client() async throws {
        let folder = try TestFolder()
        // The kernel names the user who listens, not the user who made the socket.
        let listens = """
            import os, socket, sys
            s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.setuid(int(sys.argv[2])); s.listen(8); s.settimeout(60)
            print('ready', flush=True)
            c, _ = s.accept(); print(len(c.recv(100)), flush=True)
            """
        let listener = try python(listens, folder.file("agent.sock"), "\(Self.nobody)")
        #expect(await listener.line() == "ready")
        let client = AgentClient(try AgentSocket(path: folder.file("agent.sock")))
        #expect(throws: AgentError.otherUser(Self.nobody)) { _ = try client.status() }
        #expect(await listener.line() == "0")
    }

    private func python(_ script: String, _ arguments: String...) throws -> Companion {
        try Companion(
            ["/usr/bin/env", "python3", "-c", script] + arguments, in: TestFolder(), environment: ["PATH": "/usr/bin:/bin"])
    }
}
