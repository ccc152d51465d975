// One case of a vector file and how it is judged (docs/vectors.md, "Policy").

struct VectorCase: Sendable {
    /// The case's name within its file, such as a Wycheproof `tcId`.
    let id: String
    /// What a report calls its algorithm.
    let algorithm: String
    let expectation: Expectation
    /// Wycheproof's names for what is special about it, by which ``AcceptancePolicy`` judges.
    var flags: [String] = []
    let plan: CasePlan
    /// How to make it wrong; nil for a case that is not run.
    var control: NegativeControl?
}

enum Grade: Hashable, Sendable {
    case passed
    case acceptable(wasAccepted: Bool)
    case failed(String)
}

extension VectorCase {
    /// A wrong output never passes, except where the file says that the listed one would be wrong.
    func grade(_ outcome: CheckOutcome, by policy: AcceptancePolicy) -> Grade {
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
