#if Server
internal import ArgumentParser
internal import OMSecrets
internal import OMServer
internal import OMServerStore

/// `device`: the grants of the accounts. Each login of a device has one.
struct ServerDeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "List and end the logins of devices.", subcommands: [List.self, Revoke.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ls", abstract: "List the devices that are logged in.",
            discussion:
                "Each line has the id, the account, the device's name, the scopes, and when it came last (seconds since 1970)."
        )
        @OptionGroup var data: DataOption
        @Argument(help: "Only those of this account.") var name: String?

        func run() throws {
            let account = try name.map(accountName)
            for grant in try data.store().transaction(.read, { try GrantTable.all(of: account, $0) }) {
                let owner = grant.account?.text ?? "client \(grant.client)"
                print("\(Hex.encode(grant.id))\t\(owner)\t\(grant.device)\t\(Scope.text(grant.scopes))\t\(grant.used)")
            }
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke", abstract: "End a device's login: its tokens are not valid any more.",
            discussion: """
                The device keeps what it has, and can log in again with the account's password. To remove it from a vault, run \
                "omvault device remove" on another device.
                """)
        @OptionGroup var data: DataOption
        @Argument(help: "The id that \"device ls\" shows.") var id: String

        func run() throws {
            guard let bytes = try? Hex.decode(id), bytes.count == 16,
                try data.store().transaction(.write, { try GrantTable.remove(bytes, $0) })
            else { throw ServerFailure(.notFound, "there is no login \"\(id)\"", hint: "omvault-server device ls") }
        }
    }
}
#endif
