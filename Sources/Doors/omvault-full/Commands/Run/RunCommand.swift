internal import ArgumentParser
internal import OMAuth
internal import OMSecrets
internal import OMShell

/// `omvault run`: runs a program that gets secrets and access tokens.
struct RunCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a program that gets secrets and tokens.",
        discussion: """
            A reference is om://VAULT/ITEM/FIELD, or ITEM[:FIELD] in the vault of --vault. Its value gets to the program in a
            variable, on standard input, as a descriptor that can only be read, or in a file in memory whose path is in a variable.
            The file is removed when the program has ended. Other programs of yours can read a variable. All values are read before
            the program starts; if one cannot be read, nothing is started.

              omvault run --env DB_PASS=om://work/db/password -- ./deploy
              omvault run --env-file .env -- ./deploy
              omvault run --stdin restic -- restic --password-file /dev/stdin snapshots

            A file of --env-file has lines NAME=VALUE, as .env files have them. A value that begins with om:// is a reference, and
            all others stay.

            What the program prints goes through omvault, which writes <concealed:NAME> in place of each value. That is against
            accidents: a program that changes a value can print it. The program has no terminal at its output then; --no-mask gives
            it yours, as an editor or a shell needs it.

            Each option with "token" hands over the access token of a session, as 'omvault token get' prints it. PROFILE:LIST asks for
            a token with these scopes. A file gets the next token before the one in it ends.

              omvault run --token-file TOKEN_FILE=work -- ./backup
              omvault run --token-fd 3=work -- sh -c 'printf "Authorization: Bearer %s" "$(cat <&3)" | curl -H @- URL'

            Signals are passed on. The exit code is that of the program, or 128 and the number of the signal that ended it. It is 127
            if there is no such program, 126 if it cannot be started, and 125 for every other failure of omvault's own.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(help: ArgumentHelp("The variable gets the value.", valueName: "name=reference"))
    var env: [NamedReference] = []

    @Option(help: ArgumentHelp("A file of variables. Its references are replaced.", valueName: "file"), completion: .file())
    var envFile: [String] = []

    @Option(help: ArgumentHelp("Standard input is the value.", valueName: "reference"))
    var stdin: String?

    @Option(help: ArgumentHelp("The descriptor, from 3 to 255, has the value.", valueName: "n=reference"))
    var fd: [NamedReference] = []

    @Option(help: ArgumentHelp("The variable gets the path of a file with the value.", valueName: "name=reference"))
    var file: [NamedReference] = []

    @Option(help: ArgumentHelp("Every field of the items below this path gets a variable.", valueName: "path"))
    var prefix: [ItemPrefix] = []

    @Option(help: ArgumentHelp("The variable gets the token of this profile.", valueName: "name=profile"))
    var token: [ProgramToken] = []

    @Option(help: ArgumentHelp("The descriptor, from 3 to 255, has the token of this profile.", valueName: "n=profile"))
    var tokenFd: [ProgramToken] = []

    @Option(help: ArgumentHelp("The variable gets the path of a file with the token of this profile.", valueName: "name=profile"))
    var tokenFile: [ProgramToken] = []

    @Flag(help: "Replace the references in the variables that omvault was started with, too.")
    var resolveEnv = false

    @Flag(help: "Give the program no other variables than these.")
    var cleanEnv = false

    @Flag(help: "Start nothing if a conflict copy of an item has another value.")
    var strict = false

    @Flag(help: "Leave the program's output as it is, at your terminal if there is one.")
    var noMask = false

    @Flag(help: "Become the program. Then its output is not masked.")
    var exec = false

    @Argument(parsing: .postTerminator, help: "The program and its arguments, behind --.")
    var command: [String] = []

    func run(_ context: CommandContext) throws {
        try check()
        let handover = Handover()
        var values = try RunValues(self, handover, context)
        let files = try values.files()
        let renewed = try addTokens(to: handover, context)
        if !noMask, !exec { warnOfShort(handover, context) }
        guard !exec else { throw become(handover) }
        // From here on a signal ends the program first, and then this process removes the files. A question to the user was
        // before, so that Ctrl-C ended it.
        let held = try RunningProgram.Held()
        defer {
            for file in files { file.remove() }
            for file in renewed { file.remove() }
        }
        for file in files { try file.begin(handover) }
        for (request, file) in zip(tokenFile, renewed) {
            try file.begin()
            handover.set(request.name, path: file.path)
        }
        let output: MaskedOutput? = noMask || handover.mask.isEmpty ? nil : try MaskedOutput(handover)
        // The threads come first: if there can be none, nothing is started.
        try output?.start()
        let program = try start(handover, held)
        handover.closeDescriptors()
        let next: @Sendable () -> Int64? = { renewed.compactMap(\.due).min() }
        let code = program.end(output, due: next()) {
            for file in renewed { file.renewIfDue(context) }
            return next()
        }
        // A program that ended well did not see that its output was lost.
        let isLost = code == 0 && output?.hasFailed == true
        throw ProgramEnd(code: isLost ? Self.ownFailure : code, failure: nil)
    }

    /// Whether a command line calls it. Then omvault's own failures have the exit code 125.
    static func isCalled(by arguments: [String]) -> Bool {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if GlobalOptions.spellings[word] == true {
                _ = rest.popFirst()
            } else if !word.hasPrefix("-") {
                return word == configuration.commandName
            }
        }
        return false
    }

    /// The exit code for a failure that is not the program's.
    static let ownFailure: Int32 = 125
}

extension RunCommand {
    private func check() throws(Failure) {
        let variables = env.map(\.name) + file.map(\.name) + token.map(\.name) + tokenFile.map(\.name)
        for name in variables { try Handover.checkVariable(name) }
        var numbers: [Int32] = []
        for request in tokenFd { numbers.append(try request.descriptor()) }
        for request in fd { numbers.append(try Handover.descriptor(request.name)) }
        guard !command.isEmpty else { throw Failure(usage: "there is no program behind --") }
        guard !variables.isEmpty || !numbers.isEmpty || !envFile.isEmpty || !prefix.isEmpty || stdin != nil || resolveEnv else {
            throw Failure(
                .usage, "no secret is named, so there is nothing to hand over",
                hint: "for a secret: omvault run --env NAME=ITEM:FIELD -- PROGRAM",
                "for an access token: omvault run --token-fd 3=PROFILE -- PROGRAM")
        }
        guard Set(variables).count == variables.count, Set(numbers).count == numbers.count else {
            throw Failure(usage: "a variable or a descriptor is given twice")
        }
        guard !exec || file.isEmpty && tokenFile.isEmpty else {
            throw Failure(
                .usage, "--exec leaves no omvault behind that could remove a file", hint: "use --fd or --token-fd instead")
        }
        guard !exec || !noMask else { throw Failure(usage: "--exec masks nothing, so --no-mask has no meaning beside it") }
    }

    private func addTokens(to handover: Handover, _ context: CommandContext) throws -> [RenewedTokenFile] {
        guard !(token + tokenFd + tokenFile).isEmpty else { return [] }
        let access = try LoginAccess(context)
        for request in token {
            let found = try RunToken(request, access, context).get()
            try found.token.check()
            try handover.set(request.name, found.token.token.value)
            handover.conceal(found.token.token.value, request.name)
        }
        for request in tokenFd {
            let found = try RunToken(request, access, context).get()
            try handover.open(found.token.token.value, as: try request.descriptor())
            handover.conceal(found.token.token.value, "fd \(request.name)")
        }
        let renewed = try tokenFile.map { request in
            RenewedTokenFile(
                try ProgramFile(of: request.name), try RunToken(request, access, context), name: request.name,
                mask: handover.mask)
        }
        for file in renewed { try file.fetch() }
        return renewed
    }

    private func warnOfShort(_ handover: Handover, _ context: CommandContext) {
        guard !handover.tooShort.isEmpty else { return }
        let names = handover.tooShort.joined(separator: ", ")
        context.output.notice("warning: not masked, because it is too short: \(names)")
    }

    private func start(_ handover: Handover, _ held: borrowing RunningProgram.Held) throws -> RunningProgram {
        do throws(RunningProgram.NotStarted) {
            return try RunningProgram(
                command, variables: handover.takeVariables(), isClean: cleanEnv, files: handover.descriptors, held)
        } catch { throw end(error) }
    }

    private func become(_ handover: Handover) -> ProgramEnd {
        end(
            RunningProgram.become(
                command, variables: handover.takeVariables(), isClean: cleanEnv, files: handover.descriptors))
    }

    private func end(_ error: RunningProgram.NotStarted) -> ProgramEnd {
        ProgramEnd(
            code: error.exitCode, failure: Failure(.general, "\"\(command[0])\" cannot be started", errno: error.code))
    }
}

/// Ends this process with the exit code of another program.
struct ProgramEnd: Error {
    let code: Int32
    /// What a person is told first. Nil for a program that ended by itself.
    let failure: Failure?
}
