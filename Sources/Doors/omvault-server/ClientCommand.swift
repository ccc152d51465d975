#if Server
internal import ArgumentParser
internal import Glibc
internal import OMServer
internal import OMServerStore

/// `client`: programs that have a secret of their own.
struct ClientCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client", abstract: "Manage programs that log in with a secret of their own.",
        discussion: "omvault itself needs none: its client is \"omvault\", without a secret.",
        subcommands: [Add.self, List.self, Remove.self])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Make a client and print its secret, once.")
        @OptionGroup var data: DataOption
        @Argument var id: String
        @Option(help: ArgumentHelp("What its tokens are good for.", valueName: "scopes")) var scope = "profile"

        func run() throws {
            guard Client.isID(id) else {
                throw ServerFailure(
                    .usage, "\"\(id)\" is not an id of a client", hint: "1 to 64 letters, digits, \".\", \"-\" and \"_\"")
            }
            guard let scopes = Scope.set(scope), !scopes.isEmpty else {
                throw ServerFailure(
                    .usage, "not a list of scopes: \(scope)", hint: "--scope \"\(Scope.text(Set(Scope.allCases)))\"")
            }
            let id = id
            let secret = try data.store().transaction(.write) {
                try ClientTable.add(id, scopes, now: Int64(time(nil)), $0)
            }
            guard let secret else {
                throw ServerFailure(.exists, "there is a client \"\(id)\" already", hint: "omvault-server client ls")
            }
            print(secret)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ls", abstract: "List the clients.", discussion: "Each line has the id and the scopes.")
        @OptionGroup var data: DataOption

        func run() throws {
            for client in try data.store().transaction(.read, { try ClientTable.all($0) }) {
                print("\(client.id)\t\(Scope.text(client.scopes))")
            }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rm", abstract: "Remove a client with its tokens.")
        @OptionGroup var data: DataOption
        @Argument var id: String

        func run() throws {
            let id = id
            guard try data.store().transaction(.write, { try ClientTable.remove(id, $0) }) else {
                throw ServerFailure(.notFound, "there is no client \"\(id)\"", hint: "omvault-server client ls")
            }
        }
    }
}
#endif
