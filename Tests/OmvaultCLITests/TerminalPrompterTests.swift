import ArgumentParser
import OMAuth
import OMSecrets
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

private struct Wrong: Error {}

@Suite("A login's questions at a terminal") struct TerminalPrompterTests {
    @Test("a server's secret question is shown, its answer is hidden, and the end of input declines")
    func secretQuestion() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("first pet? ", "Rex\n"), ("first pet? ", "\u{4}")])
            let prompter = TerminalPrompter(
                try CommandContext(try GlobalOptions.parse([])), RequestedUser(user: nil, domain: nil), asksPreferences: true,
                takesRemembered: true,
                password: nil, onRefusal: { _, _, _ in })
            let question = SecretQuestion("first pet?")
            guard let answer = prompter.answer(question), answer.isEqual(to: SecretBytes(copying: Array("Rex".utf8)))
            else { throw Wrong() }
            guard !terminal.shown.contains("Rex"), terminal.echoes else { throw Wrong() }
            guard prompter.answer(question) == nil, prompter.failure?.status == .aborted else { throw Wrong() }
        }
    }
}
