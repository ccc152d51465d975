/// Cases marked `acceptable` that were judged by the policy, by their flags.
public struct AcceptableCases: Hashable, Sendable {
    /// `Twist`, or several of them with commas between.
    public let flags: String
    public internal(set) var accepted = 0
    public internal(set) var refused = 0
}
