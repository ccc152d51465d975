// Which arriving versions may change an item here. Format: docs/formats/sync.md, "Levels".

package import OMRecords

extension SyncedVersion {
    /// Whether a version of this level may change the item that is here.
    ///
    /// Attack: the thief of a locked laptop has the lane of `always` alone. He must not replace, lower or remove an item of a
    /// stricter level with it. So a less strict version needs a proof, which only a holder of the stricter lane can make.
    ///
    /// - Parameter isAuthentic: Whether a proof's MAC is right, under the lane of the level from which it lowers.
    package func mayChange(_ here: SyncedVersion, isAuthentic: (LevelProof) -> Bool) -> Bool {
        var reached = here.level
        // From the strictest down: each proof leads one step further.
        for proof in proofs where proof.from >= reached && reached > level {
            // Attack: the owner lowered the item, and the thief, who can write at the lower level now, claims to include an edit
            // that another device made at the stricter level meanwhile.
            guard proof.to < reached, proof.seen.includes(here.seen), seen.includes(proof.seen), isAuthentic(proof) else {
                continue
            }
            reached = proof.to
        }
        return reached <= level
    }
}
