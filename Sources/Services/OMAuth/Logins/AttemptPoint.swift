/// A named point of an attempt.
enum AttemptPoint: Sendable {
    /// The row was read without a lock. Other processes can change it from here on.
    case found(LoginRow)
    /// A changed row is committed, and its mark is not written yet.
    case committed(LoginRow)
    /// The charge is on the disk, in row and mark. The password is checked next.
    case checking(LoginRow)
    /// The password was checked, and no part of the verdict is on the disk.
    case checked(LoginRow)
}
