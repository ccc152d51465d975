/// What becomes of a record.
enum CasePlan: Sendable {
    case run(any VectorCheck)
    case skip(String)
}

/// What becomes of a group's records.
///
/// `flips` names the fields that ``NegativeControl`` may flip a bit of: each must decide whether a valid case is right.
enum GroupPlan: Sendable {
    /// Each record is a case. The expectation matters to checks for which an invalid record lists less.
    case each(flips: [String], @Sendable (Fields, Expectation) throws(UnreadableFile) -> CasePlan)
    /// All records together are one case, a Monte Carlo chain.
    case chain(flips: [String], @Sendable ([Fields]) throws(UnreadableFile) -> CasePlan)
    /// They are left out, and this is why.
    case skip(String)
}
