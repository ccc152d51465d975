internal import ArgumentParser
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMVault

/// `omvault sync resolve`
struct SyncResolve: Verb {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Settle what 'omvault sync diff' shows.",
        discussion: """
            Takes numbers of 'omvault sync diff', or names of items, and asks before it changes anything. A number holds only for
            what was shown: if something changed since, nothing is done (12).

            copy: --keep item moves the copy to the trash. --keep copy gives the item the copy's content first. --keep both --as NAME
            makes the copy an item of its own. held: --keep item drops the version, --keep both makes it a conflict copy. change:
            --accept applies it. --refuse writes the item here again, so that it wins on every device. Changes need numbers. name:
            without an option, the name means its new item from now on. entry: without an option, this entry counts.

              omvault sync resolve github
              omvault sync resolve github --keep copy
              omvault sync resolve 5b1f04c86a90d2e7 --keep both --as github-old
              omvault sync resolve 0c93ab5f17e2d684 --refuse
            """)

    enum Kept: String, CaseIterable, ExpressibleByArgument { case item, copy, both }

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "Numbers that 'omvault sync diff' shows, or names of items.", completion: .items)
    var questions: [String]

    @Option(help: ArgumentHelp("What stays of an item and its copy: item, copy or both.", valueName: "what"))
    var keep: Kept?

    @Option(name: .customLong("as"), help: ArgumentHelp("The new name of the copy, with --keep both.", valueName: "name"))
    var newName: String?

    @Flag(help: "Apply changes that wait for you.")
    var accept = false

    @Flag(help: "Undo changes that wait for you, on every device.")
    var refuse = false

    func run(_ context: CommandContext) throws {
        let answer = try answer()
        let synced = try SyncedVault(context, unlock)
        _ = try synced.status()
        let list = try synced.questions()
        let chosen = try chosen(of: list.questions, answer).map { ShownQuestion($0, list.devices) }
        let words = chosen.map { question in
            (question.item.isEmpty ? "" : "\"\(question.item.shown)\" ") + question.what.shown
                + (question.device.isEmpty ? "" : " (by \(question.device.shown))")
        }
        try context.confirm("\(Self.words(answer)) \(words.joined(separator: "; "))?")
        do throws(AnswerProblem) {
            try synced.vault.settle(chosen.map(\.question.number), answer, now: secondsNow())
        } catch { throw Self.failure(error, synced.access) }
        // It leaves a stopped remote alone until then.
        synced.access.wakeSyncingAgent()
        try context.output.done(
            "settled \(chosen.count.of("question")); omvault sync now tells the other devices",
            [
                "result": .text("settled"), "answer": .text(Self.name(answer)),
                "numbers": .list(chosen.map { .text($0.question.number) }),
                "items": .list(chosen.map { .text($0.item) }),
            ])
    }

    private func answer() throws(Failure) -> SyncAnswer {
        guard [keep != nil, accept, refuse].count(where: { $0 }) < 2 else {
            throw Failure(.usage, "--keep, --accept and --refuse exclude each other", hint: "give one of them")
        }
        guard newName == nil || keep == .both else {
            throw Failure(.usage, "--as needs --keep both", hint: "--as names the copy, which becomes an item of its own")
        }
        if accept { return .accept }
        if refuse { return .refuse }
        switch keep {
        case nil: return .confirm
        case .item: return .keepItem
        case .copy: return .keepCopy
        case .both: return .keepBoth(try newName.map(ItemName.named))
        }
    }

    /// The questions that the user means, each once.
    private func chosen(of all: [OpenQuestion], _ answer: SyncAnswer) throws(Failure) -> [OpenQuestion] {
        let changes = all.filter { if case .braked = $0.subject { true } else { false } }
        var chosen: [OpenQuestion] = []
        for given in questions {
            var found = all.filter { $0.number == given }
            // The number of all changes about one item, or of all.
            for some in [changes] + Dictionary(grouping: changes, by: \.names).values
            where found.isEmpty && !some.isEmpty && OpenQuestion.number(ofAll: some) == given { found = some }
            let named = all.filter { $0.names.contains { $0.text == given } && answer.fits($0.subject) }
            guard found.isEmpty || named.isEmpty else {
                throw Failure(.ambiguous, "\"\(given.shown)\" is a number and a name", hint: "rename the item with omvault mv")
            }
            if found.isEmpty {
                // Attack: a member adds changes of the item between the look and the answer. A number means what was seen.
                guard !answer.isAboutChanges else { throw Self.gone(given) }
                found = named.isEmpty ? all.filter { $0.names.contains { $0.text == given } } : named
            }
            guard !found.isEmpty else { throw Self.gone(given) }
            guard found.allSatisfy({ answer.fits($0.subject) }) else { throw Self.doesNotFit }
            chosen += found.filter { !chosen.contains($0) }
        }
        return chosen
    }

    private static func gone(_ given: String) -> Failure {
        Failure(
            .conflict, "nothing to settle is called \"\(given.shown)\" now, or it changed since it was shown",
            hint: "omvault sync diff shows what there is; changes are settled by their numbers")
    }

    private static let doesNotFit = Failure(
        .usage, "this answer does not fit what is to settle",
        hint: "omvault sync resolve --help lists the answers for each kind",
        "copy: --keep item, copy or both with --as NAME; held: --keep item or both; change: --accept or --refuse")

    private static func failure(_ problem: AnswerProblem, _ access: VaultAccess) -> Failure {
        switch problem {
        case .vault(let error): access.failure(error)
        case .hasChanged:
            Failure(
                .conflict, "something changed meanwhile; nothing was settled", hint: "omvault sync diff shows what there is now")
        case .doesNotFit: doesNotFit
        case .noItem:
            Failure(
                .policy, "the item of this copy was purged, so it cannot get the copy's content",
                hint: "--keep both --as NAME makes the copy an item of its own")
        case .ofRemovedDevice:
            Failure(
                .policy, "a removed device signed this change, so it is not applied any more",
                hint: "--refuse settles it; what you want of it, do here yourself")
        }
    }

    private static func name(_ answer: SyncAnswer) -> String {
        switch answer {
        case .keepItem: "keep-item"
        case .keepCopy: "keep-copy"
        case .keepBoth: "keep-both"
        case .accept: "accept"
        case .refuse: "refuse"
        case .confirm: "confirm"
        }
    }

    private static func words(_ answer: SyncAnswer) -> String {
        switch answer {
        case .keepItem: "Keep the item, and drop the other version:"
        case .keepCopy: "Give the item the content of its copy:"
        case .keepBoth: "Keep both:"
        case .accept: "Apply these changes:"
        case .refuse: "Undo these changes on every device:"
        case .confirm: "Settle as it is:"
        }
    }
}

extension SyncAnswer {
    fileprivate var isAboutChanges: Bool { self == .accept || self == .refuse }
}
