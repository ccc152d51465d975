/// A valid case made wrong on purpose: a check that does not notice proves nothing.
struct NegativeControl: Sendable {
    /// The case's place among the file's cases, from which field and bit follow.
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

    /// Why the flipped case was not noticed; nil when it was.
    func miss() -> String? {
        // Of the fields that are there and not empty, the case's number picks one; so every field gets its turn.
        let candidates = flips.compactMap { name in
            records.indices.compactMap { index in
                records[index].flipping(name, seed: ordinal).map { (name, index, $0) }
            }.pick(ordinal)
        }
        for offset in candidates.indices {
            let (name, index, fields) = candidates[(ordinal + offset) % candidates.count]
            var changed = records
            changed[index] = fields
            // A flip that ends the reading is no test of the check (`Msg = 00` is how CAVP writes the empty message):
            // the next field takes its turn.
            guard let plan = try? remake(changed) else { continue }
            switch plan {
            case .skip(let reason): return "\(name) flipped: skipped, \(reason)"
            case .run(let check): return check.run() == .agrees ? "\(name) flipped: not noticed" : nil
            }
        }
        return "nothing to flip a bit of"
    }
}
