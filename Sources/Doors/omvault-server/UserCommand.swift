#if Server
internal import ArgumentParser
internal import Glibc
internal import OMServer
internal import OMServerStore

/// `user`: the accounts.
struct UserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Manage the accounts.",
        subcommands: [Add.self, List.self, Remove.self, SetPassword.self, Block.self, Unblock.self])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Make an account.",
            discussion: "The password is typed at the terminal, or is one line of standard input.")
        @OptionGroup var data: DataOption
        @Argument var name: String

        func run() throws {
            let store = try data.store()
            let account = try accountName(name)
            let hash = try PasswordCheck(parallel: 1, waiting: 0).hash(try PasswordInput.new(for: name))
            guard try store.transaction(.write, { try AccountTable.add(account, hash: hash, now: Int64(time(nil)), $0) })
            else {
                throw ServerFailure(
                    .exists, "there is an account \"\(name)\" already", hint: "omvault-server user passwd \(name)")
            }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ls", abstract: "List the accounts.",
            discussion: "Each line has the name, \"active\" or \"blocked\", and the wrong passwords since the last right one."
        )
        @OptionGroup var data: DataOption

        func run() throws {
            let accounts = try data.store().transaction(.read) { try AccountTable.all($0) }
            for account in accounts {
                print("\(account.name.text)\t\(account.isBlocked ? "blocked" : "active")\t\(account.failures)")
            }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rm", abstract: "Remove an account with its grants and remotes.",
            discussion: "What its devices have stays on them. Without --yes it asks at the terminal.")
        @OptionGroup var data: DataOption
        @Argument var name: String
        @Flag(help: "Do not ask.") var yes = false

        func run() throws {
            let account = try accountName(name)
            let store = try data.store()
            if !yes {
                guard isatty(0) != 0 else {
                    throw ServerFailure(.inputRequired, "removing an account needs an answer", hint: "--yes")
                }
                ServerText.error("Remove \"\(name)\" with all that its devices have synced here? [y/N] ")
                guard readLine()?.lowercased() == "y" else {
                    throw ServerFailure(.aborted, "nothing was removed", hint: "answer y to remove the account")
                }
            }
            guard try store.transaction(.write, { try AccountTable.remove(account, $0) }) else { throw noAccount(name) }
        }
    }

    struct SetPassword: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "passwd", abstract: "Set an account's password.",
            discussion: "Its devices stay logged in, unless --end-grants is given. Wrong passwords are forgotten.")
        @OptionGroup var data: DataOption
        @Argument var name: String
        @Flag(help: "End all grants of the account: its devices must log in again.") var endGrants = false

        func run() throws {
            let account = try accountName(name)
            let store = try data.store()
            let hash = try PasswordCheck(parallel: 1, waiting: 0).hash(try PasswordInput.new(for: name))
            let ends = endGrants
            let isThere = try store.transaction(.write) { transaction in
                if ends { try AccountTable.endLogins(of: account, transaction) }
                return try AccountTable.setHash(hash, of: account, transaction)
            }
            guard isThere else { throw noAccount(name) }
        }
    }

    struct Block: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "block", abstract: "Block an account: it gets no token, and its tokens are not valid any more.")
        @OptionGroup var data: DataOption
        @Argument var name: String

        func run() throws { try set(true, name, data) }
    }

    struct Unblock: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "unblock", abstract: "Let a blocked account in again.")
        @OptionGroup var data: DataOption
        @Argument var name: String

        func run() throws { try set(false, name, data) }
    }

    private static func set(_ isBlocked: Bool, _ name: String, _ data: DataOption) throws {
        let account = try accountName(name)
        let store = try data.store()
        guard try store.transaction(.write, { try AccountTable.setBlocked(isBlocked, account, $0) }) else {
            throw noAccount(name)
        }
    }
}

func accountName(_ text: String) throws -> AccountName {
    guard let name = AccountName(text) else {
        throw ServerFailure(
            .usage, "\"\(text)\" is not a name of an account", hint: "1 to 128 bytes, without colons and blanks at its ends")
    }
    return name
}

func noAccount(_ name: String) -> ServerFailure {
    ServerFailure(.notFound, "there is no account \"\(name)\"", hint: "omvault-server user ls")
}
#endif
