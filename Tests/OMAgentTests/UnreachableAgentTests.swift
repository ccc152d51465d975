// An agent that no client can reach any more.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("An agent that lost its socket", .onOwnThreads) struct UnreachableAgentTests {
    @Test(
        "an agent whose socket or folder is removed or replaced locks every vault and ends",
        .timeLimit(.minutes(5)), arguments: ["removed", "renamed", "folder"])
    func ends(loss: String) async throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        let process = try home.process(), socket = home.folder.file("run/agent.sock")
        switch loss {
        case "removed": #expect(unlink(socket) == 0)
        case "renamed": #expect(rename(socket, home.folder.file("elsewhere")) == 0)
        default: try FileManager.default.removeItem(atPath: home.folder.file("run"))
        }
        try await eventually { !Self.runs(process) }
    }

    @Test("an agent continues when other names in its folder are removed")
    func livesOn() throws {
        let home = try AgentHome()
        for _ in 0..<3 {
            try home.folder.write("", to: "run/other")
            #expect(unlink(home.folder.file("run/other")) == 0)
        }
        // Each answer comes after the agent looked at the earlier removals, or before it looks at them.
        for _ in 0..<20 { #expect(try home.process() > 0) }
    }

    /// A process that has ended may still wait for its parent to notice.
    private static func runs(_ process: pid_t) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        return text.split(separator: ")").last?.hasPrefix(" Z") != true
    }
}
