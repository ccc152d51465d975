internal import ArgumentParser
internal import COMSystem
internal import Glibc
internal import OMAgent
internal import OMAuth
internal import OMSecrets
internal import OMShell
internal import OMSystem

/// `omvault run`: runs a program that gets access tokens.
struct RunCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a program that gets access tokens.",
        discussion: """
            Each option hands the program the access token of a session, as 'omvault token get' prints it: in a variable, in a file
            whose path is in a variable, or as a descriptor that can only be read. A file is in memory, gets the next token before
            the one in it ends, and is removed when the program has ended. A variable or a descriptor keeps its first token, and
            other programs of yours can read a variable.

            PROFILE:LIST asks for a token with these scopes. The exit code is that of the program, or 128 and the number of the
            signal that ended it; 127 if there is no such program, 126 if it cannot be started. Signals are passed on.

              omvault run --token-file TOKEN_FILE=work -- ./backup
              omvault run --token-fd 3=work -- sh -c 'printf "Authorization: Bearer %s" "$(cat <&3)" | curl -H @- URL'
            """)

    @OptionGroup var global: GlobalOptions

    @Option(help: ArgumentHelp("The variable gets the token of this profile.", valueName: "name=profile"))
    var token: [ProgramToken] = []

    @Option(help: ArgumentHelp("The descriptor, from 3 to 255, has the token of this profile.", valueName: "n=profile"))
    var tokenFd: [ProgramToken] = []

    @Option(help: ArgumentHelp("The variable gets the path of a file with the token of this profile.", valueName: "name=profile"))
    var tokenFile: [ProgramToken] = []

    @Argument(parsing: .postTerminator, help: "The program and its arguments, behind --.")
    var command: [String] = []

    func run(_ context: CommandContext) throws {
        try check()
        let access = try LoginAccess(context)
        var variables = SecretBuffer()
        var files: [(from: Int32, to: Int32)] = []
        func closeFiles() {
            for file in files { close(file.from) }
            files = []
        }
        defer { closeFiles() }
        for request in token {
            let found = try RunToken(request, access, context).get()
            try found.token.append(to: &variables, before: "\(request.name)=", after: "\0")
        }
        for request in tokenFd {
            let found = try RunToken(request, access, context).get()
            files.append((try Self.sealed(found.token), try request.descriptor()))
        }
        let renewed = try tokenFile.map { request in
            RenewedTokenFile(try TokenFile(of: request.name), try RunToken(request, access, context))
        }
        for file in renewed { try file.fetch() }
        // From here on a signal ends the program first, and then this process removes the files. A question to the user was
        // before, so that Ctrl-C ended it.
        let held = try RunningProgram.Held()
        defer { for file in renewed { file.remove() } }
        for (request, file) in zip(tokenFile, renewed) {
            try file.begin()
            variables.append("\(request.name)=\(file.path)\0".utf8Span.span)
        }
        let program = try start(variables.finish(), files, held)
        // The program has its own descriptors, and this process keeps no token while it runs.
        closeFiles()
        try end(program, renewed, context)
    }

    private func check() throws(Failure) {
        for request in token + tokenFile { try request.checkVariable() }
        var numbers: [Int32] = []
        for request in tokenFd { numbers.append(try request.descriptor()) }
        guard !command.isEmpty else { throw Failure(usage: "there is no program behind --") }
        guard !(token + tokenFd + tokenFile).isEmpty else {
            throw Failure(
                .usage, "no token is named, so there is nothing to hand over",
                hint: "for an access token: omvault run --token-fd 3=PROFILE -- PROGRAM",
                "to hand a secret to a program's standard input: omvault get ITEM:FIELD | PROGRAM")
        }
        let names = (token + tokenFile).map(\.name)
        guard Set(names).count == names.count, Set(numbers).count == numbers.count else {
            throw Failure(usage: "a variable or a descriptor is given twice")
        }
    }

    /// A descriptor above all numbers that the program gets.
    private static func sealed(_ token: borrowing PrintedToken) throws(Failure) -> Int32 {
        let low = token.token.value.withBytes { bytes in bytes.withUnsafeBytes { om_sealed_file($0.baseAddress, $0.count) } }
        guard low >= 0 else { throw Failure(.io, "a token cannot be put into memory for the program", errno: errno) }
        defer { close(low) }
        let high = fcntl(low, F_DUPFD_CLOEXEC, 256)
        guard high >= 0 else { throw Failure(.io, "a token cannot be put into memory for the program", errno: errno) }
        return high
    }

    private func start(
        _ variables: borrowing SecretBytes, _ files: [(from: Int32, to: Int32)], _ held: borrowing RunningProgram.Held
    ) throws -> RunningProgram {
        do throws(RunningProgram.NotStarted) {
            return try RunningProgram(command, variables: variables, files: files, held)
        } catch {
            throw ProgramEnd(
                code: error.exitCode,
                failure: Failure(.general, "\"\(command[0])\" cannot be started", errno: error.code))
        }
    }

    private func end(_ program: consuming RunningProgram, _ files: [RenewedTokenFile], _ context: CommandContext) throws {
        let next: @Sendable () -> Int64? = { files.compactMap(\.due).min() }
        let code = program.end(due: next()) {
            for file in files { file.renewIfDue(context) }
            return next()
        }
        throw ProgramEnd(code: code, failure: nil)
    }
}

/// Ends this process with the exit code of another program.
struct ProgramEnd: Error {
    let code: Int32
    /// What a person is told first. Nil for a program that ended by itself.
    let failure: Failure?
}
