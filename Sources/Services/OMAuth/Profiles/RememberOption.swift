/// Whether something may be remembered, and the default before the user has chosen.
public struct RememberOption: Hashable, Sendable {
    public let isAllowed: Bool
    /// Never true if it is not allowed.
    public let isDefault: Bool

    public init(isAllowed: Bool = false, isDefault: Bool = false) {
        (self.isAllowed, self.isDefault) = (isAllowed, isAllowed && isDefault)
    }
}
