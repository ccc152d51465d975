// The programs that may be started with keys or passwords: docs/formats/agent-protocol.md, "The socket".

import Foundation
import Glibc
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("The agent's program is checked") struct ProgramCheckTests {
    @Test("every folder above the program counts, a sticky folder of root's is accepted, and links lead to the checked path")
    func folders() async throws {
        // The folder of all tests is sticky and open to every user, or belongs to this user.
        let home = try TestFolder(containing: ["above", "above/own"]), folder = realPath(home.path)
        let program = folder + "/above/own/omvault-agent"
        try Data().write(to: URL(filePath: program))
        for path in [folder, folder + "/above", folder + "/above/own", program] { chmod(path, 0o755) }
        #expect(try AgentProcess.check(program) == program)
        symlink(program, folder + "/above/link")
        symlink("above", folder + "/way")
        #expect(try AgentProcess.check(folder + "/above/link") == program)
        #expect(try AgentProcess.check(folder + "/way/own/omvault-agent") == program)
        // Attack: another user renames the folder above, and puts his own folder in its place.
        for mode: mode_t in [0o775, 0o757, 0o777] {
            chmod(folder + "/above", mode)
            #expect(throws: AgentError.unsafeProgram(folder + "/above")) { try AgentProcess.check(program) }
            #expect(throws: AgentError.unsafeProgram(folder + "/above")) {
                try AgentProcess.check(folder + "/way/own/omvault-agent")
            }
        }
        guard geteuid() == 0 else { return }
        chmod(folder + "/above", 0o1777)
        #expect(try AgentProcess.check(program) == program)
        chown(folder + "/above", 65534, 65534)
        #expect(throws: AgentError.unsafeProgram(folder + "/above")) { try AgentProcess.check(program) }
        chown(folder + "/above", 0, 0)
        // In a sticky folder any user can make the program first.
        chmod(folder + "/above/own", 0o1777)
        #expect(throws: AgentError.unsafeProgram(folder + "/above/own")) { try AgentProcess.check(program) }
    }

    private func realPath(_ path: String) -> String { URL(filePath: path).resolvingSymlinksInPath().path }
}
