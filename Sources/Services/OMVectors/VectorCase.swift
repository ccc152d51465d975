// One case of a vector file and its grading (docs/reference/vectors.md, "Policy").

struct VectorCase: Sendable {
    /// The case's name within its file, such as a Wycheproof `tcId`.
    let id: String
    /// The name of its algorithm in reports.
    let algorithm: String
    let expectation: Expectation
    /// Wycheproof's names for what is special about the case. ``AcceptancePolicy`` decides by them.
    var flags: [String] = []
    let plan: CasePlan
    /// How to make the case wrong. Nil for a case that is not run.
    var control: NegativeControl?
}

enum Grade: Hashable, Sendable {
    case passed
    case acceptable(wasAccepted: Bool)
    case failed(String)
}

extension VectorCase {
    /// Grades the outcome. A wrong output never passes, except if the file says that the listed output is wrong.
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
