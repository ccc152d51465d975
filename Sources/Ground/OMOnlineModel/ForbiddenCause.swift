/// In which words a server refuses. What follows is the same; the SDK's numbers are two.
public enum ForbiddenCause: UInt8, CaseIterable, Sendable {
    /// 403 or 423.
    case status = 1
    /// OAuth's `access_denied`.
    case accessDenied = 2
}
