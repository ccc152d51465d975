// One case of a vector file and the policy that judges it (docs/vectors.md, "Policy").

/// What a file says must come of a case.
enum Expectation: String, Sendable {
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
    let expectation: Expectation
    let check: any Check
}

enum Verdict: Hashable, Sendable {
    case passed
    case acceptable
    case failed(String)
}

extension Expectation {
    /// A wrong output never passes, except where the file says that the listed one would be wrong.
    func judge(_ outcome: Outcome) -> Verdict {
        switch (self, outcome) {
        case (.valid, .agrees): .passed
        case (.valid, .differs(let how)): .failed(how)
        case (.valid, .refused(let why)): .failed("valid, but refused: \(why)")
        case (.invalid, .agrees): .failed("invalid, but accepted")
        case (.invalid, .differs), (.invalid, .refused): .passed
        case (.acceptable, .agrees), (.acceptable, .refused): .acceptable
        case (.acceptable, .differs(let how)): .failed(how)
        }
    }
}
