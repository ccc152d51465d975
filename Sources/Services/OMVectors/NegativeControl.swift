/// A valid case that is made wrong on purpose. A check that does not notice it proves nothing.
struct NegativeControl: Sendable {
    /// The number of the case in its file. It selects the field and the bit.
    let ordinal: Int
    let flips: [String]
    let records: [Fields]
    let remake: @Sendable ([Fields]) throws(UnreadableFile) -> CasePlan

    init(
        ordinal: Int, flips: [String], records: [Fields],
        remake: @escaping @Sendable ([Fields]) throws(UnreadableFile) -> CasePlan
    ) {
        (self.ordinal, self.flips, self.records, self.remake) = (ordinal, flips, records, remake)
    }

    /// Why the check did not notice the flipped case. Nil if it did.
    func miss() -> String? {
        // The case's number picks one of the fields that exist and are not empty, so every field gets its turn.
        let candidates = flips.compactMap { name in
            records.indices.compactMap { index in
                records[index].flipping(name, seed: ordinal).map { (name, index, $0) }
            }.pick(ordinal)
        }
        for offset in candidates.indices {
            let (name, index, fields) = candidates[(ordinal + offset) % candidates.count]
            var changed = records
            changed[index] = fields
            // A flip that makes the file unreadable does not test the check (`Msg = 00` is how CAVP writes the empty message).
            // The next field takes its turn.
            guard let plan = try? remake(changed) else { continue }
            switch plan {
            case .skip(let reason): return "\(name) flipped: skipped, \(reason)"
            case .run(let check): return check.run() == .agrees ? "\(name) flipped: not noticed" : nil
            }
        }
        return "nothing to flip a bit of"
    }
}
