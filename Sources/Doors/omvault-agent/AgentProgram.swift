// The agent's door: its arguments, its hardening and its exit code. OMAgent does the rest. With `--online` the program is the
// online helper, which joins OMOnline to OMAgent in OnlineHelperProgram. With `--request` it is the helper of requests, joined in
// RequestHelperProgram, with `--folder` that of a remote's folder, and with `--server` that of a remote on a server, joined in
// ServerHelperProgram. With `--import` it reads a file of another program.

internal import Glibc
internal import OMAgent
internal import OMAgentProtocol
internal import OMJSON
internal import OMSystem

@main
enum AgentProgram {
    static func main() {
        protectFreedMemory()
        if CommandLine.arguments.dropFirst() == ["--online"] { OnlineHelperProgram.run() }
        if CommandLine.arguments.dropFirst() == ["--request"] { RequestHelperProgram.run() }
        if CommandLine.arguments.dropFirst() == ["--folder"] { FolderHelperProgram.run() }
        if CommandLine.arguments.dropFirst() == ["--server"] { ServerHelperProgram.run() }
        if CommandLine.arguments.dropFirst() == ["--import"] { ImportHelperProgram.run() }
        let options = AgentArguments(Array(CommandLine.arguments.dropFirst()))
        if options?.reportsReady == true { AgentProcess.leaveParent() }
        guard AgentProcess.harden(hidesMemory: options?.hidesMemory ?? true) else {
            fatalError("omvault-agent: error: this system refuses to protect the process")
        }
        guard let options else {
            let options = "[--socket PATH] [--idle SEC] [--hard SEC] [--sync-every SEC] [--no-sync] [--no-memfd-secret]"
            say("usage: omvault-agent \(options) [--ready] [--json]")
            say("or omvault-agent --online, --request, --folder, --server or --import with a socket as descriptor 3")
            exit(2)
        }
        signal(SIGPIPE, SIG_IGN)
        do throws(AgentError) {
            let server = try AgentServer(
                try listeningSocket(options), options.timeOuts,
                background: AgentSync(BackgroundSync(), every: options.syncs ? options.interval : nil))
            if options.reportsReady { AgentProcess.report(nil) }
            server.run()
        } catch {
            if options.reportsReady { AgentProcess.report(error.words) } else { report(error, asJSON: options.asJSON) }
            exit(61)
        }
    }

    private static func listeningSocket(_ options: AgentArguments) throws(AgentError) -> ListeningSocket {
        func variable(_ name: String) -> String? {
            guard let value = getenv(name), value.pointee != 0 else { return nil }
            return String(cString: value)
        }
        // With `--ready`, descriptor 3 is the starter's pipe.
        if !options.reportsReady, let passed = try ListeningSocket(passed: variable) { return passed }
        if let path = options.socket { return try ListeningSocket(try AgentSocket(path: path)) }
        return try ListeningSocket(try AgentSocket(variable, makes: true))
    }

    /// Starts this program again if malloc has other settings, because malloc reads its settings before `main`.
    ///
    /// Attack, or accident: a variable with other settings of malloc keeps freed memory as it was.
    private static func protectFreedMemory() {
        let (name, value) = AgentProcess.environment
        if let given = getenv(name), strcmp(given, value) == 0 { return }
        guard setenv(name, value, 1) == 0 else { return }
        execv("/proc/self/exe", CommandLine.unsafeArgv)
    }

    /// - Parameter asJSON: Whether the error has the form of omvault's own errors, for `omvault agent run --json`.
    private static func report(_ error: AgentError, asJSON: Bool) {
        guard asJSON else { return say("error: \(error.words)") }
        write(#"{"error":{"code":"agent","exit":61,"message":\#(JSONText.quoted(error.words))}}"#)
    }

    private static func say(_ words: String) { write("omvault-agent: \(words)") }

    private static func write(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = line.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

private struct AgentArguments {
    private(set) var socket: String?
    private(set) var timeOuts = AgentServer.TimeOuts()
    private(set) var syncs = true
    private(set) var interval = AgentSync.usualInterval
    private(set) var hidesMemory = true
    private(set) var reportsReady = false
    private(set) var asJSON = false

    /// Nil if a word is not an option or a valid value.
    init?(_ words: [String]) {
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--socket":
                guard let path = rest.popFirst(), FilePath.isAbsolute(path) else { return nil }
                socket = path
            case "--idle":
                guard let seconds = Self.seconds(rest.popFirst()) else { return nil }
                timeOuts = AgentServer.TimeOuts(idle: seconds, hard: timeOuts.hard)
            case "--hard":
                guard let seconds = Self.seconds(rest.popFirst()) else { return nil }
                timeOuts = AgentServer.TimeOuts(idle: timeOuts.idle, hard: seconds)
            case "--sync-every":
                guard let seconds = Self.seconds(rest.popFirst()) else { return nil }
                interval = seconds
            case "--no-sync": syncs = false
            case "--no-memfd-secret": hidesMemory = false
            case "--ready": reportsReady = true
            case "--json": asJSON = true
            default: return nil
            }
        }
    }

    private static func seconds(_ word: String?) -> UInt32? {
        word.flatMap { UInt32($0) }.flatMap { AgentServer.TimeOuts.isAllowed($0) ? $0 : nil }
    }
}

extension AgentError {
    fileprivate var words: String {
        switch self {
        case .noRuntimeFolder: "XDG_RUNTIME_DIR does not name a folder of this user with mode 0700"
        case .noHome: "HOME is not set to an absolute path"
        case .unsafeFolder(let hazard, let path): "\(path) is not used: \(hazard)"
        case .notRunning: "the folder of the socket does not exist"
        case .cannotStart(let words): words
        case .io(let code): String(cString: strerror(code))
        case .programMissing, .unsafeProgram, .otherUser, .otherVersion, .busy, .full, .deadline, .misbehaved:
            "\(self)"
        }
    }
}
