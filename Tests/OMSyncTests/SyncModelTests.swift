// Random lives of several devices: nothing is lost, and all end with the same items.

import OMSync
import TestSupport
import Testing

@Suite("The model of sync") struct SyncModelTests {
    @Test(
        "no acknowledged value is lost, whatever a thief, a liar or a server does, and all devices end with the same items",
        arguments: SyncModel.Adversary.allCases)
    func lives(adversary: SyncModel.Adversary) {
        for seed in 0..<UInt64(Sweep.count(10_000, sample: adversary.hasServer ? 30 : 300)) {
            var model = SyncModel(seed: seed, adversary: adversary)
            let problems = model.run()
            #expect(problems.isEmpty, "seed \(seed): \(problems)")
        }
    }

    /// A rule, the adversary that it is needed against, and the first words of what the model finds without the rule.
    @Test(
        "without one of its rules the model fails",
        arguments: [
            (ModelRules.copies, SyncModel.Adversary.none, "lost: "), (.causes, .none, "lost: "), (.levels, .thief, "lost: "),
            (.counts, .liar, "lost: "), (.ownChain, .snapshot, "lost: value"), (.ownChain, .serverAndSnapshot, "lost: value"),
            (.knownHeads, .server, "I3: "), (.removedHeads, .server, "I3: "), (.freshNotes, .server, "a new device lacks"),
            (.keptHeads, .server, "a new device lacks"),
        ])
    func controls(rule: ModelRules, adversary: SyncModel.Adversary, problem: String) {
        #expect(fails(without: rule, adversary, telling: .heads, problem))
    }

    /// A rule, the only lie that the server tells, and the seed with which the search begins: the first ones find nothing.
    @Test(
        "without the rule against it, the model finds each lie about a file",
        arguments: [
            (ModelRules.wholePacks, ModelLies.withheldPack, 3), (.wholePacks, .tornPack, 51), (.packDigests, .otherPack, 115),
            (.packDigests, .olderPack, 69), (.lostPacks, .forgottenPack, 0), (.lostPacks, .earlyDeletion, 0),
            (.acceptedRoll, .withheldEntry, 7), (.acceptedRoll, .olderRoll, 7), (.asksUser, .twoEntries, 6),
            (.ownVault, .foreignEntry, 7), (.entriesAgain, .forgottenEntry, 9), (.lateWalks, .withheldList, 3),
            (.lateWalks, .olderList, 55), (.lateWalks, .otherList, 8),
        ])
    func controlsOfFiles(rule: ModelRules, lie: ModelLies, seed: Int) {
        #expect(fails(without: rule, .server, telling: lie, "devices ", from: UInt64(seed)))
    }

    @Test(
        "without one of its rules the model loses edits of a disk that is put back while a server lies",
        arguments: [
            (ModelRules.ownHeadFirst, "I3: ", 6143), (.formerWalks, "devices ", 9382), (.newNumberFirst, "lost: ", 2576),
            (.newNumberStays, "the devices have different rolls", 5527),
        ])
    func controlsOfDisks(rule: ModelRules, problem: String, seed: Int) {
        #expect(fails(without: rule, .serverAndSnapshot, telling: .all, problem, from: UInt64(seed)))
    }

    private func fails(
        without rule: ModelRules, _ adversary: SyncModel.Adversary, telling lies: ModelLies, _ problem: String,
        from first: UInt64 = 0
    ) -> Bool {
        (first..<first + UInt64(Sweep.count(10_000, sample: 200))).contains { seed in
            var model = SyncModel(seed: seed, rules: .all.subtracting(rule), adversary: adversary, lies: lies)
            return model.run().contains { $0.hasPrefix(problem) }
        }
    }
}
