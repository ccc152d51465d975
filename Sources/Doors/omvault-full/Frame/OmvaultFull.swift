// The entry point of the program with all commands: hardens the process, finds the command and runs it. An error becomes a
// message and an exit code.

internal import ArgumentParser
internal import Glibc
internal import OMAgentProtocol
internal import OMShell

@main
enum OmvaultFull {
    static func main() {
        ProcessStart.protect()
        EarlyHelper.adopt()
        let status = answer(Array(CommandLine.arguments.dropFirst()))
        EarlyHelper.drop()
        exit(status)
    }

    private static func answer(_ typed: [String]) -> Int32 {
        do throws(Failure) { return answer(to: try DockerHelper.arguments(AskpassHelper.arguments(typed))) } catch {
            error.report(asJSON: false)
            return error.status.rawValue
        }
    }

    private static func answer(to arguments: [String]) -> Int32 {
        // Attack: su and `sudo -E` keep the user's variables. With OMVAULT_PASSWORD_FROM=cmd:… a user runs a program as root,
        // or enrols a password that the user knows.
        if arguments.prefix(while: { $0 != "--" }).contains("--system") { Environment.eraseVariables() }
        if ClipboardWait.isCalled(by: arguments) { ClipboardWait.run() }
        if arguments.first == CompletionAnswer.question {
            CompletionAnswer.answer(to: Array(arguments.dropFirst()))
            return ExitStatus.ok.rawValue
        }
        do {
            try refuseUnreadable()
            return try StatusCommand.isAnswered(arguments) ? ExitStatus.ok.rawValue : perform(arguments).rawValue
        } catch let answered as AlreadyReported {
            return answered.status.rawValue
        } catch let end as ProgramEnd {
            end.failure?.report(asJSON: GlobalOptions.wantJSON(arguments), exitCode: end.code)
            return end.code
        } catch {
            let failure = Failure(anyError: error)
            if failure.isReaderGone { ProcessEnd.byBrokenPipe() }
            let code = RunCommand.isCalled(by: arguments) ? RunCommand.ownFailure : failure.status.rawValue
            failure.report(asJSON: GlobalOptions.wantJSON(arguments), exitCode: code)
            return code
        }
    }

    private static func perform(_ arguments: [String]) throws -> ExitStatus {
        if let get = GetCommand(plain: arguments) {
            do { try get.run() } catch let error where !(error is AlreadyReported) {
                throw try CommandLineArguments(arguments, root: CommandTree.self).withHelp(Failure(anyError: error))
            }
            return .ok
        }
        let line = try CommandLineArguments(arguments, root: CommandTree.self)
        do {
            var command = try line.parse()
            if let login = command as? LoginStart { try line.refuseTypo(login.user) }
            try command.run()
        } catch let failure where CommandTree.exitCode(for: failure) == .success {
            // ArgumentParser throws the answers to --help and to the completion flags.
            let width = HelpText.terminalWidth
            let page = HelpPage.ordered(CommandTree.fullMessage(for: failure, columns: width), width)
            try StandardOutput.write(HelpText.filled(page, width) + "\n")
        } catch let failure where Failure.isOfParser(failure) {
            throw line.usageFailure(CommandTree.message(for: failure))
        } catch let error where !(error is AlreadyReported || error is ProgramEnd) {
            throw line.withHelp(Failure(anyError: error))
        }
        return .ok
    }

    /// Refuses arguments that are not UTF-8. Swift would repair two different names to the same text.
    private static func refuseUnreadable() throws(Failure) {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) != nil else {
                throw Failure(
                    .usage, "argument \(index) is not UTF-8", hint: "names and paths on the command line must be UTF-8")
            }
        }
    }
}
