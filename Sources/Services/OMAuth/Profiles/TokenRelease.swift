/// `TokenRelease`: whether the agent hands out the access tokens of a session.
public enum TokenRelease: String, CaseIterable, Hashable, Sendable {
    case never
    /// Each time only if the user agrees.
    case confirm
    case allow
}
