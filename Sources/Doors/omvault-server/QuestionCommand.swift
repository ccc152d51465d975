#if Server
internal import ArgumentParser
internal import OMServer
internal import OMServerStore

/// `question`: questions that only a user can answer. The SDK's service asks one at a registration.
struct QuestionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "question", abstract: "Manage the questions that an account must answer, beside its password.",
        discussion: """
            The SDK's service asks one of them when a device registers. A login of omvault itself asks none.
            """,
        subcommands: [Add.self, List.self, Remove.self])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a question.",
            discussion: """
                The answer is typed at the terminal, or is one line of standard input. Blanks at its ends do not count. A to Z \
                and a to z are the same; every other letter must be typed exactly.
                """)
        @OptionGroup var data: DataOption
        @Argument var name: String
        @Argument var question: String

        func run() throws {
            guard (1...200).contains(question.utf8.count), !question.contains(where: \.isNewline) else {
                throw ServerFailure(.usage, "a question has 1 to 200 bytes, in one line", hint: "\"The name of your school?\"")
            }
            let account = try accountName(name), question = question
            let store = try data.store()
            let hash = try PasswordCheck(parallel: 1, waiting: 0).hash(answer: try PasswordInput.answer())
            guard let hash else {
                throw ServerFailure(
                    .usage, "the answer is empty; no question was added",
                    hint: "type an answer at the terminal, or give it as a line on standard input")
            }
            guard try store.transaction(.write, { try QuestionTable.add(question, hash: hash, of: account, $0) }) else {
                throw noAccount(name)
            }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ls", abstract: "List the questions of an account.",
            discussion: "Each line has a number and the question.")
        @OptionGroup var data: DataOption
        @Argument var name: String

        func run() throws {
            let account = try accountName(name)
            for question in try data.store().transaction(.read, { try QuestionTable.all(of: account, $0) }) {
                print("\(question.number)\t\(question.text)")
            }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "rm", abstract: "Remove a question of an account.")
        @OptionGroup var data: DataOption
        @Argument var name: String
        @Argument(help: "The number that \"question ls\" shows.") var number: Int64

        func run() throws {
            let account = try accountName(name), number = number
            guard try data.store().transaction(.write, { try QuestionTable.remove(number, of: account, $0) }) else {
                throw ServerFailure(.notFound, "there is no question \(number)", hint: "omvault-server question ls \(name)")
            }
        }
    }
}
#endif
