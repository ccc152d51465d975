/// A named point of an attempt.
enum AttemptPoint: Sendable {
    /// The row was read, with no lock held: others may change it from here on.
    case found(LoginRow)
    /// A changed row is committed, and its mark is not written yet.
    case committed(LoginRow)
    /// The charge is on the disk, in row and mark. The password is looked at next.
    case checking(LoginRow)
    /// The password was looked at, and nothing of the verdict is on the disk.
    case checked(LoginRow)
}
