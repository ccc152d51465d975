// The entry point: harden first, then find the verb, run it, and turn whatever it threw into words and an exit code.

internal import ArgumentParser
internal import COMSystem
internal import Glibc

@main
enum Omvault {
    static let version = "0.1.0"

    static func main() {
        guard om_harden_process() == 0 else { fatalError("omvault: error: this system refuses to protect the process") }
        holdStandardDescriptors()
        // A reader that went away is an error of our write, with an exit code and words, not a silent death.
        signal(SIGPIPE, SIG_IGN)
        // Likewise a file that reached the limit of its size.
        signal(SIGXFSZ, SIG_IGN)
        exit(answer(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    private static func answer(_ arguments: [String]) -> ExitStatus {
        // Attack: su and `sudo -E` bring the user's variables along. OMVAULT_PASSWORD_FROM=cmd:… would run a program of his
        // as root, or enrol a password that he knows.
        if arguments.prefix(while: { $0 != "--" }).contains("--system") { Environment.eraseVariables() }
        do {
            // Before ArgumentParser is touched: its set-up is half of the start-up time.
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
            failure.report(asJSON: GlobalOptions.wantJSON(arguments))
            return failure.status
        }
    }

    private static func perform(_ arguments: [String]) throws -> ExitStatus {
        let line = try CommandLineArguments(arguments, root: CommandTree.self)
        do {
            var command = try CommandTree.parseAsRoot(line.arguments)
            if let login = command as? LoginStart { try line.refuseTypo(login.user) }
            try command.run()
        } catch let failure where CommandTree.exitCode(for: failure) == .success {
            // ArgumentParser throws the answers to --help and to the completion flags.
            let width = HelpText.terminalWidth
            let page = HelpPage.ordered(CommandTree.fullMessage(for: failure, columns: width), width)
            try StandardOutput.write(HelpText.filled(page, width) + "\n")
        } catch let failure where Failure.isOfParser(failure) {
            throw line.usageFailure(CommandTree.message(for: failure))
        }
        return .ok
    }

    /// Two names that differ in bytes which are no UTF-8 would both be repaired to the same text, and be one name.
    private static func refuseUnreadable() throws(Failure) {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) != nil else {
                throw Failure(
                    .usage, "argument \(index) is not UTF-8", hint: "names and paths on the command line are UTF-8")
            }
        }
    }

    /// Attack: started with a closed standard output, the next file we open, a vault perhaps, becomes descriptor 1 and
    /// our output is written into it. A closed one is filled with /dev/null opened the other way round, so that its
    /// use is still an error.
    private static func holdStandardDescriptors() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
