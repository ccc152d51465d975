// Random lives of several devices: nothing is lost, and all end with the same items.

import OMSync
import TestSupport
import Testing

@Suite("The model of sync") struct SyncModelTests {
    @Test(
        "no acknowledged value is lost, no thief or liar replaces one, and all devices end with the same items",
        arguments: SyncModel.Adversary.allCases)
    func lives(adversary: SyncModel.Adversary) {
        for seed in 0..<UInt64(Sweep.count(10_000, sample: 300)) {
            var model = SyncModel(seed: seed, adversary: adversary)
            let problems = model.run()
            #expect(problems.isEmpty, "seed \(seed): \(problems)")
        }
    }

    @Test(
        "without one of its rules the model loses a value",
        arguments: [
            (ModelRules.copies, SyncModel.Adversary.none), (.causes, .none), (.levels, .thief), (.counts, .liar),
            (.ownChain, .snapshot),
        ])
    func controls(rule: ModelRules, adversary: SyncModel.Adversary) {
        let failed = (0..<UInt64(Sweep.count(10_000, sample: 200))).contains { seed in
            var model = SyncModel(seed: seed, rules: .all.subtracting(rule), adversary: adversary)
            return model.run().contains { $0.hasPrefix("lost: ") }
        }
        #expect(failed)
    }
}
