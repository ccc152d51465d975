/// The results of a file's valid cases after one bit of each was flipped.
public struct ControlReport: Sendable {
    public let path: String
    public internal(set) var caught = 0
    /// The cases whose flipped bit made no difference, or that could not be flipped.
    public internal(set) var misses: [FileReport.FailedCase] = []

    /// `65 caught, 0 missed`.
    public var summary: String { "\(caught) caught, \(misses.count) missed" }
}
