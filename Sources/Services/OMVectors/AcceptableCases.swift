/// Cases marked `acceptable` with the same flags, which the policy decided.
public struct AcceptableCases: Hashable, Sendable {
    /// `Twist`, or several flags with commas between them.
    public let flags: String
    public internal(set) var accepted = 0
    public internal(set) var refused = 0
}
