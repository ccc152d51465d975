#if Server
internal import ArgumentParser
internal import OMServer
internal import OMServerStore

/// `policy`: what clients of an application must keep to.
struct ServerPolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Set what logins of an application must keep to.",
        subcommands: [Set.self, Show.self])

    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Change a policy. Its epoch rises by 1.",
            discussion: """
                Keys: \(PolicyKey.allCases.map(\.rawValue).joined(separator: ", ")). A key without a value is removed. \
                docs/reference/profiles.md says what each means.
                """)
        @OptionGroup var data: DataOption
        @Argument(help: "The ApplicationName of the clients' profiles.") var application: String
        @Argument(help: ArgumentHelp("KEY=VALUE, or KEY= to remove it.", valueName: "key=value")) var values: [String]

        func run() throws {
            guard PolicyKey.isApplication(application) else {
                throw ServerFailure(
                    .usage, "\"\(application)\" is not a name of an application",
                    hint: "1 to 128 letters, digits, \".\", \"-\" and \"_\"")
            }
            var changes: [String: String?] = [:]
            for pair in values {
                let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard sides.count == 2, let key = PolicyKey(rawValue: sides[0]) else {
                    throw ServerFailure(
                        .usage, "not a key of a policy: \(pair)",
                        hint: PolicyKey.allCases.map(\.rawValue).joined(separator: ", "))
                }
                guard sides[1].isEmpty || key.takes(sides[1]) else {
                    throw ServerFailure(
                        .usage, "\(key.rawValue) does not take \"\(sides[1])\"", hint: "docs/reference/profiles.md")
                }
                changes[key.rawValue] = .some(sides[1].isEmpty ? nil : sides[1])
            }
            let (application, wanted) = (application, changes)
            print(try data.store().transaction(.write) { try PolicyTable.change(application, wanted, $0) }.shown)
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Print policies.", discussion: "Without a name it lists the applications.")
        @OptionGroup var data: DataOption
        @Argument var application: String?

        func run() throws {
            let store = try data.store()
            guard let application else {
                for name in try store.transaction(.read, { try PolicyTable.names($0) }) { print(name) }
                return
            }
            guard let policy = try store.transaction(.read, { try PolicyTable.find(application, $0) }) else {
                throw ServerFailure(.notFound, "there is no policy \"\(application)\"", hint: "omvault-server policy show")
            }
            print(policy.shown)
        }
    }
}

extension Policy {
    fileprivate var shown: String {
        (["epoch=\(epoch)"] + values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }).joined(separator: "\n")
    }
}
#endif
