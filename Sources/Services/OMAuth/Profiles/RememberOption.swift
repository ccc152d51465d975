/// Whether something may be remembered, and what is ticked where the user has not chosen yet.
public struct RememberOption: Hashable, Sendable {
    public let isAllowed: Bool
    /// Never true where it is not allowed.
    public let isDefault: Bool

    public init(isAllowed: Bool = false, isDefault: Bool = false) {
        (self.isAllowed, self.isDefault) = (isAllowed, isAllowed && isDefault)
    }
}
