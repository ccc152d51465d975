// One case of a vector file and how it is judged (docs/vectors.md, "Policy").

/// What a file says must come of a case.
public enum Expectation: String, Hashable, Sendable {
    case valid
    case invalid
    case acceptable
}

/// What came of running it.
enum Outcome: Hashable, Sendable {
    /// It was accepted and gave what the file lists.
    case agrees
    /// It was accepted and gave something else.
    case differs(String)
    /// It was refused with an error.
    case refused(String)
}

/// A computation with its expected result, ready to run.
protocol Check: Sendable {
    func run() -> Outcome
}

struct VectorCase: Sendable {
    /// The case's name within its file, such as a Wycheproof `tcId`.
    let id: String
    /// What a report calls its algorithm.
    let algorithm: String
    let expectation: Expectation
    /// Wycheproof's names for what is special about it, by which ``Policy`` judges.
    var flags: [String] = []
    let plan: Plan
    /// How to make it wrong; nil for a case that is not run.
    var control: Control?
}

enum Verdict: Hashable, Sendable {
    case passed
    case acceptable(wasAccepted: Bool)
    case failed(String)
}

extension VectorCase {
    /// A wrong output never passes, except where the file says that the listed one would be wrong.
    func grade(_ outcome: Outcome, by policy: Policy) -> Verdict {
        switch (expectation, outcome) {
        case (.valid, .agrees): .passed
        case (.valid, .differs(let how)): .failed(how)
        case (.valid, .refused(let why)): .failed("valid, but refused: \(why)")
        case (.invalid, .agrees): .failed("invalid, but accepted")
        case (.invalid, .differs), (.invalid, .refused): .passed
        case (.acceptable, .differs(let how)): .failed(how)
        case (.acceptable, .agrees):
            policy.rule(for: self).allowsAccepting
                ? .acceptable(wasAccepted: true) : .failed("\(flagText): accepted, which the policy refuses")
        case (.acceptable, .refused(let why)):
            policy.rule(for: self).allowsRefusing
                ? .acceptable(wasAccepted: false) : .failed("\(flagText): refused (\(why)), which the policy accepts")
        }
    }

    private var flagText: String { flags.isEmpty ? "acceptable" : "acceptable, \(flags.joined(separator: ", "))" }
}

/// A valid case made wrong on purpose: a check that does not notice proves nothing.
struct Control: Sendable {
    /// The case's place among the file's cases, from which field and bit follow.
    let ordinal: Int
    let flips: [String]
    let records: [Fields]
    let remake: @Sendable ([Fields]) throws(Unreadable) -> Plan

    init(
        ordinal: Int, flips: [String], records: [Fields],
        remake: @escaping @Sendable ([Fields]) throws(Unreadable) -> Plan
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
