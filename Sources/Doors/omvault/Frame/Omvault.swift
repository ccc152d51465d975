// The entry point: hardens the process, finds the command and runs it. An error becomes a message and an exit code.

internal import ArgumentParser
internal import COMSystem
internal import Glibc

@main
enum Omvault {
    static let version = "0.1.0"

    static func main() {
        guard om_harden_process() == 0 else { fatalError("omvault: error: this system refuses to protect the process") }
        holdStandardDescriptors()
        // If the reader of a pipe or socket has gone, the write fails. With the signal's usual effect an agent that ends, or a
        // standard error that is closed, would kill this process in the middle of a change or between charge and settlement.
        signal(SIGPIPE, SIG_IGN)
        // The same for a file that has reached the limit of its size.
        signal(SIGXFSZ, SIG_IGN)
        exit(answer(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    private static func answer(_ arguments: [String]) -> ExitStatus {
        // Attack: su and `sudo -E` keep the user's variables. With OMVAULT_PASSWORD_FROM=cmd:… a user runs a program as root,
        // or enrols a password that the user knows.
        if arguments.prefix(while: { $0 != "--" }).contains("--system") { Environment.eraseVariables() }
        if arguments.first == CompletionAnswer.question {
            CompletionAnswer.answer(to: Array(arguments.dropFirst()))
            return .ok
        }
        do {
            // Answered before ArgumentParser is used: its set-up takes half of the start-up time.
            if let answer = VersionAnswer.answer(to: arguments) {
                try StandardOutput.write(answer)
                return .ok
            }
            try refuseUnreadable()
            if try FastPath.answer(to: arguments) { return .ok }
            return try perform(arguments)
        } catch let answered as AlreadyReported {
            return answered.status
        } catch {
            let failure = Failure(anyError: error)
            if failure.isReaderGone { endByBrokenPipe() }
            failure.report(asJSON: GlobalOptions.wantJSON(arguments))
            return failure.status
        }
    }

    /// Ends the process as the signal would have, after the work is done: without a message, and a shell shows 141. The caller
    /// may have ignored the signal, as services of systemd do; the exit is the same for all callers.
    private static func endByBrokenPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        SignalWatch.deliver(SIGPIPE)
        exit(128 + SIGPIPE)
    }

    private static func perform(_ arguments: [String]) throws -> ExitStatus {
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
        } catch let error where !(error is AlreadyReported) {
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

    /// Attack: an attacker starts omvault with a closed standard output. The next file that it opens, such as a vault,
    /// becomes descriptor 1, and the output is written into it. So a closed descriptor gets /dev/null, opened for the
    /// wrong direction: using it is still an error.
    private static func holdStandardDescriptors() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
