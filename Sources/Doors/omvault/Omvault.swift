// The entry point of the command. It answers the most frequent questions itself, with the agent's help, and starts
// omvault-full for everything else. It links no vault, no libcrypto and no parser, so that it starts quickly.

internal import Glibc
internal import OMAgentProtocol
internal import OMSecrets
internal import OMShell

@main
enum Omvault {
    static func main() {
        ProcessStart.protect()
        // docker's verbs are no verbs of omvault, and a prompt is none.
        guard !ProcessStart.isOfDocker, !ProcessStart.isOfAskpass else { FullProgram.become() }
        // A name that is not UTF-8 would be repaired to another name. omvault-full refuses it.
        guard let arguments = arguments() else { FullProgram.become() }
        do throws(Failure) {
            guard try QuickAnswer.answer(to: arguments) else {
                if sendsRequest(arguments), let folder = FullProgram.folder { EarlyHelper.start(in: folder) }
                FullProgram.become()
            }
            if !SecretMemory.isLocked { StandardError.write("omvault: \(SecretMemory.unlockedWords)\n") }
        } catch {
            if error.isReaderGone { ProcessEnd.byBrokenPipe() }
            error.report(asJSON: false)
            exit(error.status.rawValue)
        }
    }

    /// Whether it is a request of `rest` without a profile, as it is mostly written. With a profile the agent starts the helper.
    private static func sendsRequest(_ arguments: [String]) -> Bool {
        guard arguments.first == "rest", !arguments.contains(where: { $0.hasPrefix("--profile") || $0 == "--help" || $0 == "-h" })
        else { return false }
        return zip(arguments.dropFirst(), arguments.dropFirst(2)).contains { method, address in
            !method.hasPrefix("-") && (address.hasPrefix("https://") || address.hasPrefix("http://"))
        }
    }

    /// The words behind the program's name. Nil if one of them is not UTF-8.
    private static func arguments() -> [String]? {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let word = CommandLine.unsafeArgv[index].flatMap({ String(validatingCString: $0) }) else { return nil }
            words.append(word)
        }
        return words
    }
}
