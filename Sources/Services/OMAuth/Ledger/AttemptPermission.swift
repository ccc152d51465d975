/// What a row allows under a policy at a time.
enum AttemptPermission: Hashable, Sendable {
    /// A check, after a charge.
    case open(LoginSlot)
    /// Nothing but a wipe: wrong passwords have exceeded the limit.
    case wipeDue
    case refused(AuthError)
}
