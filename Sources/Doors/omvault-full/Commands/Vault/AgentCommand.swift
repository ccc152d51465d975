// The commands about the agent itself.

internal import ArgumentParser
internal import Glibc
internal import OMAgent
internal import OMAgentProtocol
internal import OMShell

/// `omvault agent`: the process that keeps vaults open.
struct AgentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Start, stop and look at the agent.",
        discussion: """
            The agent is the process that keeps vaults open. 'omvault unlock' starts it.
            """,
        subcommands: [
            AgentStart.self, AgentRun.self, AgentStop.self, AgentStatusCommand.self, AgentEnvironment.self,
        ])
}

/// The options for starting an agent.
struct AgentOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Seconds without use until a vault locks.", valueName: "sec"))
    var idle: UInt32?

    @Option(help: ArgumentHelp("Seconds until a vault locks in any case.", valueName: "sec"))
    var hard: UInt32?

    @Option(
        help: ArgumentHelp(
            "Seconds between two looks at a remote. With at most 300, the agent also waits at a server for news.",
            valueName: "sec"))
    var syncEvery: UInt32?

    @Flag(help: "Sync only with 'omvault sync now'.")
    var noSync = false

    @Option(help: ArgumentHelp("The socket's path, in a folder of yours with mode 0700.", valueName: "path"))
    var socket: String?

    @Flag(help: ArgumentHelp("Keep keys in memory that root can read.", visibility: .hidden))
    var noMemfdSecret = false

    var words: [String] {
        var words: [String] = []
        for (name, seconds) in [("--idle", idle), ("--hard", hard), ("--sync-every", syncEvery)] {
            if let seconds { words += [name, "\(seconds)"] }
        }
        if noSync { words.append("--no-sync") }
        if noMemfdSecret { words.append("--no-memfd-secret") }
        return words
    }

    func validate() throws {
        for value in [idle, hard, syncEvery].compactMap(\.self) where !AgentServer.TimeOuts.isAllowed(value) {
            throw ValidationError("a time-out is 1 to \(AgentServer.TimeOuts.longest) seconds")
        }
    }

    func agentSocket() throws(AgentError) -> AgentSocket {
        if let socket { return try AgentSocket(path: AbsolutePath.absolute(socket)) }
        return try AgentSocket(Environment.text, makes: true)
    }
}

struct AgentStart: Verb {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Start the agent in the background, if none runs.",
        discussion: """
              omvault agent start
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var options: AgentOptions

    func run(_ context: CommandContext) throws {
        let socket = try options.agentSocket()
        let isNew = try AgentProcess.start(try AgentLauncher.program(), at: socket, options: options.words)
        try context.output.done(
            isNew ? "the agent is running at \(socket.path.shown)" : "an agent is already running at \(socket.path.shown)",
            ["result": .text(isNew ? "started" : "running"), "socket": .text(socket.path)])
    }
}

struct AgentRun: Verb {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the agent in the foreground, for a service manager.",
        discussion: """
            Ends with SIGTERM, SIGINT or SIGHUP, or by 'omvault agent stop'.

              omvault agent run
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var options: AgentOptions

    func run(_ context: CommandContext) throws {
        let program = try AgentProcess.check(try AgentLauncher.program())
        // The agent itself reads a socket that systemd passes.
        let isPassed = Environment.text("LISTEN_FDS") != nil
        let words = isPassed ? [] : ["--socket", try options.agentSocket().path]
        let format = context.output.format == .json ? ["--json"] : []
        _ = ([program] + words + options.words + format).withCArguments { execv(program, $0) }
        throw Failure(.agent, "cannot start \(program.shown)", errno: errno)
    }
}

struct AgentStop: Verb {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Lock every vault and end the agent.",
        discussion: """
            It ends every agent of yours: a job without XDG_RUNTIME_DIR may have started one in another folder.

              omvault agent stop
            """)

    @OptionGroup var global: GlobalOptions

    func run(_ context: CommandContext) throws {
        var count = 0
        _ = try AgentClient.forEach(Environment.text) { (client) throws(AgentError) in
            try client.stepDown()
            count += 1
        }
        guard count > 0 else {
            // Without a folder for the socket, the error says so.
            _ = try AgentSocket(Environment.text)
            throw AgentError.notRunning
        }
        try context.output.done(count == 1 ? "the agent ended" : "\(count) agents ended", ["result": .text("stopped")])
    }
}

struct AgentStatusCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the agent: its process, its memory, the open vaults.",
        discussion: """
              omvault agent status
            """)

    @OptionGroup var global: GlobalOptions

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        OtherAgents().tell(context.output)
        let socket = try AgentSocket(Environment.text)
        let status = try AgentClient(socket).status()
        let memory = ["not locked", "locked", "hidden"][Int(status.memory)]
        let lacking = Confinement.lacking
        guard context.output.format == .json else {
            return try context.output.rows(
                [
                    ["socket", socket.path], ["process", "\(status.process)"], ["memory", memory],
                    ["idle", DurationText.text(status.idle)], ["hard", DurationText.text(status.hard)],
                    ["open", "\(status.vaults.count)"], ["confinement", Self.words(lacking)],
                ], header: ["AGENT", Column("", name: "value")])
        }
        var document = JSONDocument()
        document.field("socket", .text(socket.path))
        document.field("process", .number(Int(status.process)))
        document.field("memory", .text(memory))
        document.field("idle", .number(Int(status.idle)))
        document.field("hard", .number(Int(status.hard)))
        document.field("open", .number(status.vaults.count))
        document.field("confinement_lacks", .list(lacking.map { .text($0.rawValue) }))
        try context.output.document(document)
    }

    /// The layers of the online helper's confinement that this kernel lacks.
    static func words(_ lacking: [Confinement.Layer]) -> String {
        lacking.isEmpty ? "whole" : "this kernel lacks: " + lacking.map(\.words).joined(separator: ", ")
    }
}

struct AgentEnvironment: Verb {
    static let configuration = CommandConfiguration(
        commandName: "env",
        abstract: "Print the variable that names the agent's socket.",
        discussion: """
            A shell reads what it prints:

              omvault agent env
              eval "$(omvault agent env)"
            """)

    @OptionGroup var global: GlobalOptions

    func run(_ context: CommandContext) throws {
        let path = try AgentSocket(Environment.text, makes: true).path
        guard context.output.format == .json else {
            return try context.output.line("OMVAULT_AGENT_SOCK=\(path.inShellQuotes); export OMVAULT_AGENT_SOCK")
        }
        var document = JSONDocument()
        document.field("socket", .text(path))
        try context.output.document(document)
    }
}

extension Confinement.Layer {
    /// The layer, named by the rights that it removes.
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
