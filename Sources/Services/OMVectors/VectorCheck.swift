/// The outcome of a check.
enum CheckOutcome: Hashable, Sendable {
    /// The input was accepted and gave the listed output.
    case agrees
    /// The input was accepted and gave another output.
    case differs(String)
    /// The input was refused with an error.
    case refused(String)
}

/// A computation with its expected result, ready to run.
protocol VectorCheck: Sendable {
    func run() -> CheckOutcome
}
