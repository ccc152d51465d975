/// What came of running it.
enum CheckOutcome: Hashable, Sendable {
    /// It was accepted and gave what the file lists.
    case agrees
    /// It was accepted and gave something else.
    case differs(String)
    /// It was refused with an error.
    case refused(String)
}

/// A computation with its expected result, ready to run.
protocol VectorCheck: Sendable {
    func run() -> CheckOutcome
}
