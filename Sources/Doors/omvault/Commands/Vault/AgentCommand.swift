// The verbs that speak to the agent itself, and how it is found and started.

internal import ArgumentParser
internal import Glibc
internal import OMAgent
internal import OMSecrets
internal import OMSystem
internal import OMVault

/// `omvault agent`: the process that keeps vaults open.
struct AgentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Start, stop and look at the process that keeps vaults open.",
        subcommands: [
            AgentStart.self, AgentRun.self, AgentStop.self, AgentStatusCommand.self, AgentEnvironment.self,
        ])
}

/// The options of an agent that is started.
struct AgentOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Seconds without use after which a vault locks.", valueName: "sec"))
    var idle: UInt32?

    @Option(help: ArgumentHelp("Seconds after which a vault locks in any case.", valueName: "sec"))
    var hard: UInt32?

    @Option(help: ArgumentHelp("Where it listens: a path in a folder of yours with mode 0700.", valueName: "path"))
    var socket: String?

    @Flag(help: ArgumentHelp("Keep keys in memory that root can read.", visibility: .hidden))
    var noMemfdSecret = false

    var words: [String] {
        (idle.map { ["--idle", "\($0)"] } ?? []) + (hard.map { ["--hard", "\($0)"] } ?? [])
            + (noMemfdSecret ? ["--no-memfd-secret"] : [])
    }

    func validate() throws {
        for value in [idle, hard].compactMap(\.self) where !(1...AgentServer.TimeOuts.longest).contains(value) {
            throw ValidationError("a time-out is 1 to \(AgentServer.TimeOuts.longest) seconds")
        }
    }

    func place() throws(AgentError) -> AgentSocket {
        if let socket { return try AgentSocket(path: Paths.absolute(socket)) }
        return try AgentSocket(Environment.text, makes: true)
    }
}

struct AgentStart: Verb {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Start the agent in the background, if none runs.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var options: AgentOptions

    func run(_ door: Door) throws {
        let socket = try options.place()
        let isNew = try AgentProcess.start(try RunningAgent.program(), at: socket, options: options.words)
        try door.output.done(
            isNew ? "the agent runs at \(socket.path.shown)" : "an agent runs already at \(socket.path.shown)",
            ["result": .text(isNew ? "started" : "running"), "socket": .text(socket.path)])
    }
}

struct AgentRun: Verb {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Be the agent, in the foreground: for a service manager.",
        discussion: "Ends with SIGTERM, SIGINT or SIGHUP, or by 'omvault agent stop'.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var options: AgentOptions

    func run(_ door: Door) throws {
        let program = try AgentProcess.check(try RunningAgent.program())
        // A socket that systemd passed is the agent's own to look at.
        let isPassed = Environment.text("LISTEN_FDS") != nil
        let words = isPassed ? [] : ["--socket", try options.place().path]
        _ = ([program] + words + options.words).withCArguments { execv(program, $0) }
        throw Failure(.agent, "cannot start \(program.shown): \(systemMessage(errno))")
    }
}

struct AgentStop: Verb {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Lock every vault and end the agent.")

    @OptionGroup var global: GlobalOptions

    func run(_ door: Door) throws {
        try AgentClient(try AgentSocket(Environment.text)).stepDown()
        try door.output.done("the agent ended", ["result": .text("stopped")])
    }
}

struct AgentStatusCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the agent: its process, its memory, the vaults that are open.")

    @OptionGroup var global: GlobalOptions

    func run(_ door: Door) throws {
        let socket = try AgentSocket(Environment.text)
        let status = try AgentClient(socket).status()
        let memory = ["not locked", "locked", "hidden"][Int(status.memory)]
        let lacking = Confinement.lacking
        guard door.output.format == .json else {
            return try door.output.rows(
                [
                    ["socket", socket.path], ["process", "\(status.process)"], ["memory", memory],
                    ["idle", Duration.text(status.idle)], ["hard", Duration.text(status.hard)],
                    ["open", "\(status.vaults.count)"], ["confinement", Self.words(lacking)],
                ], header: ["AGENT", ""])
        }
        var document = JSONDocument()
        document.field("socket", .text(socket.path))
        document.field("process", .number(Int(status.process)))
        document.field("memory", .text(memory))
        document.field("idle", .number(Int(status.idle)))
        document.field("hard", .number(Int(status.hard)))
        document.field("open", .number(status.vaults.count))
        document.field("confinement_lacks", .list(lacking.map { .text($0.rawValue) }))
        try door.output.document(document)
    }

    /// What this kernel lacks to confine the process that asks a server.
    static func words(_ lacking: [Confinement.Layer]) -> String {
        lacking.isEmpty ? "whole" : "this kernel lacks: " + lacking.map(\.words).joined(separator: ", ")
    }
}

struct AgentEnvironment: Verb {
    static let configuration = CommandConfiguration(
        commandName: "env",
        abstract: "Print the variable that leads to the agent, for a shell to read.",
        discussion: "  eval \"$(omvault agent env)\"")

    @OptionGroup var global: GlobalOptions

    func run(_ door: Door) throws {
        let path = try AgentSocket(Environment.text, makes: true).path
        guard door.output.format == .json else {
            return try door.output.line("OMVAULT_AGENT_SOCK=\(path.inShellQuotes); export OMVAULT_AGENT_SOCK")
        }
        var document = JSONDocument()
        document.field("socket", .text(path))
        try door.output.document(document)
    }
}

/// An agent that runs.
struct RunningAgent {
    let client: AgentClient

    /// The agent of this version, started if none runs. An older one is told to go first.
    static func started() throws -> RunningAgent {
        let socket = try AgentSocket(Environment.text, makes: true)
        let client = AgentClient(socket)
        do throws(AgentError) {
            _ = try client.status()
            return RunningAgent(client: client)
        } catch {
            switch error {
            case .notRunning: break
            case .otherVersion(let version) where version < AgentProtocol.version: try client.stepDown()
            default: throw error
            }
        }
        _ = try AgentProcess.start(try program(), at: socket)
        return RunningAgent(client: client)
    }

    /// The agent's program: beside this one, wherever that was started from.
    static func program() throws(Failure) -> String {
        guard let own = realpath("/proc/self/exe", nil) else {
            throw Failure(.agent, "this program does not find itself: \(systemMessage(errno))")
        }
        defer { free(own) }
        let path = String(cString: own)
        return "\(FilePath.folder(of: path))/\(AgentProcess.programName)"
    }
}

extension Confinement.Layer {
    /// The layer by what it takes away.
    fileprivate var words: String {
        switch self {
        case .user: "a user without rights"
        case .privileges: "no capabilities"
        case .files: "no files (Landlock)"
        case .ports: "the profile's TCP ports only (Landlock 4)"
        case .scope: "no signals to others (Landlock 6)"
        case .sockets: "no local sockets (seccomp)"
        case .calls: "no programs and processes (seccomp)"
        }
    }
}

enum Duration {
    /// Seconds as `12h`, `10m` or `9m30s`.
    static func text(_ seconds: UInt32) -> String {
        let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")].filter { $0.0 > 0 }
        return parts.isEmpty ? "0s" : parts.map { "\($0.0)\($0.1)" }.joined()
    }
}

enum Paths {
    /// An absolute path without links and dots, as far as it is there; what is not there yet stays behind it.
    static func resolved(_ path: String) -> String {
        let names = path.split(separator: "/").map(String.init)
        for count in stride(from: names.count, through: 0, by: -1) {
            guard let found = realpath("/" + names.prefix(count).joined(separator: "/"), nil) else { continue }
            defer { free(found) }
            let head = String(cString: found)
            return ([head == "/" ? "" : head] + names.dropFirst(count)).joined(separator: "/")
        }
        return path
    }

    /// The path from the root: another process has another working folder.
    ///
    /// Links and dots are resolved where the file is there, so that every spelling of it is one place in the agent.
    static func absolute(_ path: String) -> String {
        if let resolved = realpath(path, nil) {
            defer { free(resolved) }
            return String(cString: resolved)
        }
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }
}
