/// Cases that were not run.
public struct SkippedCases: Hashable, Sendable {
    public let reason: String
    public internal(set) var count: Int
}
