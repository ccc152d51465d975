/// How a server refuses. Both cases have the same effect, but the SDK has a number for each.
public enum ForbiddenCause: UInt8, CaseIterable, Sendable {
    /// 403 or 423.
    case status = 1
    /// OAuth's `access_denied`.
    case accessDenied = 2
}
