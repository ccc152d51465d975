internal import ArgumentParser
internal import Glibc
internal import OMAgent
internal import OMAgentProtocol
internal import OMCrypto
internal import OMSecrets
internal import OMShell
internal import OMSystem

/// `omvault helper ssh-agent`: the front between SSH programs and the agent.
struct SSHAgentHelper: Verb {
    static let configuration = CommandConfiguration(
        commandName: "ssh-agent",
        abstract: "An ssh-agent with the keys of a vault.",
        discussion: """
            ssh, ssh-keygen and git get signatures from it, and no private key leaves omvault's agent. A key is an item of type
            ssh-key with the field private-key, in a vault that is unlocked in the agent. With the tag ssh-confirm each use asks,
            and with ssh-off the key is not offered. Each use over a forwarded connection asks. A question goes to the program of
            OMVAULT_ASKPASS, else of SSH_ASKPASS; without one the answer is no.

            The command goes on in the background, and prints what a shell sets. With a COMMAND it ends with that, and has its exit
            code.

              eval "$(omvault helper ssh-agent)"
              omvault helper ssh-agent -- ssh git@git.example.org
            """)

    @OptionGroup var global: GlobalOptions

    @Option(help: ArgumentHelp("The socket's path, in a folder of yours with mode 0700.", valueName: "path"))
    var socket: String?

    @Flag(help: "Ask before each signature.")
    var confirm = false

    @Flag(help: "Stay in the foreground, for a service manager.")
    var foreground = false

    @Flag(help: ArgumentHelp("Report to descriptor 3.", visibility: .hidden))
    var ready = false

    @Argument(parsing: .postTerminator, help: "A program and its arguments, behind --.")
    var command: [String] = []

    func validate() throws {
        guard command.isEmpty || !foreground && socket == nil else {
            throw ValidationError("a command has a socket of its own, and no --foreground")
        }
    }

    func run(_ context: CommandContext) throws {
        if ready { return serveForStarter(context) }
        let access = try VaultAccess(context)
        _ = try access.file()
        if !command.isEmpty { throw try runCommand(access) }
        let path = try agentSocket()
        let isThere = try SSHAgentServer.answers(front(access), at: path)
        if foreground, isThere != nil { throw Self.taken(path, "an ssh-agent already answers at") }
        if isThere == nil, !SSHConfirmation().canAsk {
            context.output.notice("warning: no SSH_ASKPASS is set, so the answer to each question is no")
        }
        if foreground {
            let signals = SSHAgentServer.endSignals()
            let server = try server(at: path, access)
            try Self.announce(path)
            return server.run(until: signals)
        }
        var process: Int32?
        switch isThere {
        case true?: break
        case false?: throw Self.other(path)
        case nil: process = try start(at: path, access)
        }
        try Self.announce(path)
        if let process { try StandardOutput.write("SSH_AGENT_PID=\(process); export SSH_AGENT_PID;\n") }
    }

    /// Starts the front in the background.
    ///
    /// - Returns: Its process. Nil if another command has started one meanwhile.
    private func start(at path: AgentSocket, _ access: VaultAccess) throws -> Int32? {
        let vault = AbsolutePath.absolute(access.location.path)
        let words = ["helper", "ssh-agent", "--ready", "--socket", path.path, "--vault", vault]
        do throws(AgentError) { return try AgentProcess.startInBackground(words + (confirm ? ["--confirm"] : [])) } catch {
            guard case .cannotStart = error, let isThere = try SSHAgentServer.answers(front(access), at: path) else {
                throw error
            }
            guard isThere else { throw Self.other(path) }
            return nil
        }
    }

    /// The process in the background.
    private func serveForStarter(_ context: CommandContext) {
        do {
            let signals = SSHAgentServer.endSignals()
            let server = try server(at: try agentSocket(), VaultAccess(context))
            AgentProcess.report(nil)
            server.run(until: signals)
        } catch {
            AgentProcess.report(Failure(anyError: error).message)
        }
    }

    /// - Returns: How the command ended.
    private func runCommand(_ access: VaultAccess) throws -> ProgramEnd {
        let path = try Self.reachable(AgentSocket(named: "ssh\(getpid())", Environment.text, makes: true))
        let held = try RunningProgram.Held()
        let server = try server(at: path, access)
        defer { server.remove() }
        let variables = Handover()
        variables.set("SSH_AUTH_SOCK", path: path.path)
        do throws(RunningProgram.NotStarted) {
            let program = try RunningProgram(
                command, variables: variables.takeVariables(), isClean: false, files: [], held)
            // After the program's start, so that the program does not have the variable.
            SSHConfirmation.prepare()
            DetachedThread.startOrRunHere { server.run() }
            return ProgramEnd(code: program.end(nil, due: nil) { nil }, failure: nil)
        } catch {
            return ProgramEnd(
                code: error.exitCode, failure: Failure(.general, "\"\(command[0])\" cannot be started", errno: error.code))
        }
    }

    private func server(at path: AgentSocket, _ access: VaultAccess) throws -> SSHAgentServer {
        let paths = try paths(access)
        if command.isEmpty { SSHConfirmation.prepare() }
        let confirmation = SSHConfirmation()
        return SSHAgentServer(
            try ListeningSocket(path), AgentSSHKeys(AgentClient(try AgentSocket(Environment.text, makes: true)), paths),
            as: try front(access)
        ) { confirmation.answer($0) }
    }

    private func paths(_ access: VaultAccess) throws(Failure) -> VaultPaths {
        guard let paths = access.agentPaths else {
            throw Failure(usage: "the path of vault \"\(access.location.name.shown)\" is too long for the agent")
        }
        return paths
    }

    private func front(_ access: VaultAccess) throws(Failure) -> SSHFront {
        SSHFront(vault: Array(try paths(access).vault.utf8), confirmsAll: confirm)
    }

    private func agentSocket() throws -> AgentSocket {
        if let socket { return try Self.reachable(AgentSocket(path: AbsolutePath.absolute(socket))) }
        return try Self.reachable(AgentSocket(named: SSHAgentServer.name, Environment.text, makes: true))
    }

    /// omvault itself finds a socket at a path of any length, but ssh does not.
    private static func reachable(_ path: AgentSocket) throws(Failure) -> AgentSocket {
        guard path.path.utf8.count <= 107 else {
            throw Failure(
                .agent, "the path of the socket is longer than the 107 bytes that ssh can use: \(path.path.shown)",
                hint: "--socket PATH names a shorter one; without --socket, a shorter XDG_RUNTIME_DIR does")
        }
        return path
    }

    private static func other(_ path: AgentSocket) -> Failure {
        taken(path, "a front with another vault or without --confirm, or another program, answers at")
    }

    private static func taken(_ path: AgentSocket, _ what: String) -> Failure {
        Failure(
            .agent, "\(what) \(path.path.shown)", hint: "rm \(path.path.asShellWord) ends a front of omvault",
            "--socket PATH starts one at another path")
    }

    /// A line of a shell, as OpenSSH's ssh-agent prints it.
    private static func announce(_ path: AgentSocket) throws(Failure) {
        try StandardOutput.write("SSH_AUTH_SOCK=\(path.path.asShellWord); export SSH_AUTH_SOCK;\n")
    }
}
