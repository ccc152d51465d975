/// The plan for one record.
enum CasePlan: Sendable {
    case run(any VectorCheck)
    case skip(String)
}

/// The plan for a group's records.
///
/// `flips` names the fields in which ``NegativeControl`` may flip a bit. Every bit of such a field must count in a valid case.
enum GroupPlan: Sendable {
    /// Each record is a case. A check needs the expectation if an invalid record lists fewer fields.
    case each(flips: [String], @Sendable (Fields, Expectation) throws(UnreadableFile) -> CasePlan)
    /// All records together are one case, a Monte Carlo chain.
    case chain(flips: [String], @Sendable ([Fields]) throws(UnreadableFile) -> CasePlan)
    /// The records are left out for this reason.
    case skip(String)
}
