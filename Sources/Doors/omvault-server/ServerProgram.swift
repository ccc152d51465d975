// The server's door: `omvault-server`.

#if Server
internal import ArgumentParser
internal import Glibc

@main struct ServerProgram {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        do {
            var command = try ServerCommand.parseAsRoot()
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch let failure as ServerFailure {
            failure.end()
        } catch {
            let status = ServerCommand.exitCode(for: error)
            // ArgumentParser's own errors: help, the version, and command lines that cannot be used.
            if status.isSuccess || error is CleanExit || "\(type(of: error))".contains("CommandError")
                || error is ValidationError
            {
                let text = ServerCommand.fullMessage(for: error) + "\n"
                if status.isSuccess { ServerText.output(text) } else { ServerText.error(text) }
                exit(status.isSuccess ? 0 : ServerFailure.Status.usage.rawValue)
            }
            ServerFailure(error).end()
        }
    }
}

struct ServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "omvault-server", abstract: "Serve logins, policies and sync to omvault.",
        discussion: "Settings and store are in one folder: --data, or /var/lib/omvault-server.", version: "0.1.0",
        subcommands: [
            ServerInitCommand.self, ServeCommand.self, UserCommand.self, QuestionCommand.self, ClientCommand.self,
            ServerDeviceCommand.self, ServerPolicyCommand.self, ServerBackupCommand.self, ServerRestoreCommand.self,
            ServerMigrateCommand.self, ServerDoctorCommand.self,
        ])
}
#else
@main private enum EmptyProgram {
    static func main() { fatalError("omvault-server: built without the trait Server: swift build --traits Server") }
}
#endif
