import ArgumentParser
import Glibc
import OMItems
import OMSecrets
import OMVault
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

private struct Wrong: Error {}

private func expect(_ condition: Bool) throws {
    if !condition { throw Wrong() }
}

private func makeTries(_ kind: KeySlot.Kind = .password, _ arguments: [String] = []) throws -> SecretTries {
    let context = try CommandContext(try GlobalOptions.parse(arguments))
    return SecretTries(kind, of: "--password-from", try SecretSources(context, ["--password-from": nil]), context) { error in
        Failure(error, vault: "work")
    }
}

private func refusal(_ body: () throws(Failure) -> Void) -> Failure? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}

private let wrong = Failure(wrong: .password, vault: "work")

@Suite("Asking again for a vault's secret") struct SecretTriesTests {
    @Test("three wrong passwords end the command with the way out, and what was typed during the last check is dropped")
    func three() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("checking 3", "rm -r important\n"), ("End: ", "x\n")])
            let tries = try makeTries()
            var asked: [Bool] = []
            let failure = refusal { () throws(Failure) in
                try tries.run { isFirst throws(Failure) in
                    asked.append(isFirst)
                    Terminal(mayAsk: true).tell("checking \(asked.count)")
                    if asked.count == 3 { try? terminal.awaitInput() }
                    throw wrong
                }
            }
            try expect(asked == [true, false, false])
            try expect(failure?.status == .badSecret)
            try expect(failure?.hints.contains { $0.contains("omvault key passwd --recovery-from tty") } == true)
            try expect(!(try terminal.hasInput))
            try expect(terminal.echoes)
            _ = try Terminal(mayAsk: true).readSecret("End", for: "--password-from")
            try expect(terminal.shown.split(separator: "wrong password for vault \"work\"\r\n").count == 3)
            try expect(!terminal.shown.contains("important"))
        }
    }

    @Test("a right answer ends the tries, and so does every error other than a wrong secret and a delay")
    func ends() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([], echo: nil)
            let tries = try makeTries()
            var count = 0
            let answer = try tries.run { _ throws(Failure) in
                count += 1
                if count == 1 { throw wrong }
                if count == 2 { throw Failure(VaultError.delayed(seconds: 1), vault: "work") }
                return 42
            }
            try expect(answer == 42 && count == 3)
            count = 0
            let failure = refusal { () throws(Failure) in
                try tries.run { _ throws(Failure) in
                    count += 1
                    throw Failure(VaultError.corrupt(.header), vault: "work")
                }
            }
            try expect(failure?.status == .corrupt && count == 1)
            try expect(terminal.echoes)
        }
    }

    @Test(
        "a script, --no-input and the password of a login have one try",
        arguments: [[], ["--no-input"], ["login"]])
    func one(given: [String]) async {
        await #expect(processExitsWith: .success) { [given] in
            // Without arguments this process has no terminal.
            let terminal = given.isEmpty ? nil : try PseudoTerminal.controllingThisProcess()
            if terminal == nil { setsid() }
            terminal?.playBeside([], echo: nil)
            let tries = given == ["login"] ? try makeTries(.login) : try makeTries(.password, given)
            var count = 0
            let failure = refusal { () throws(Failure) in
                try tries.run { _ throws(Failure) in
                    count += 1
                    throw wrong
                }
            }
            try expect(failure?.status == .badSecret && count == 1)
            let delayed = refusal { () throws(Failure) in
                try tries.awaitUse(true) { () throws(VaultError) in throw .delayed(seconds: 60) }
            }
            try expect(delayed?.status == .delayed)
        }
    }

    @Test("the delay after a wrong password is waited for at a terminal, and then the check is repeated")
    func delay() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("omvault: too early after a wrong password; asking in 1 s", ""), ("End: ", "x\n")])
            var count = 0
            try makeTries().awaitUse(true) { () throws(VaultError) in
                count += 1
                if count == 1 { throw .delayed(seconds: 1) }
            }
            try expect(count == 2)
            _ = try Terminal(mayAsk: true).readSecret("End", for: "--password-from")
        }
    }
}
