/// What a row allows now, under a policy.
enum AttemptPermission: Hashable, Sendable {
    /// A check, after a charge.
    case open(LoginSlot)
    /// Only a wipe: wrong passwords have exceeded the limit.
    case wipeDue
    case refused(AuthError)
}
