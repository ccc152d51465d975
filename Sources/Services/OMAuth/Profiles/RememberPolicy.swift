/// Whether something may be remembered, and what is ticked where the user has not chosen yet.
public struct RememberOption: Hashable, Sendable {
    public let isAllowed: Bool
    /// Never true where it is not allowed.
    public let isDefault: Bool

    public init(isAllowed: Bool = false, isDefault: Bool = false) {
        (self.isAllowed, self.isDefault) = (isAllowed, isAllowed && isDefault)
    }
}

/// The SDK's three ways to remember, the strongest first.
public struct RememberPolicy: Hashable, Sendable {
    public let autoLogin: RememberOption
    public let credentials: RememberOption
    public let userName: RememberOption

    public init(
        autoLogin: RememberOption = RememberOption(), credentials: RememberOption = RememberOption(),
        userName: RememberOption = RememberOption()
    ) {
        (self.autoLogin, self.credentials, self.userName) = (autoLogin, credentials, userName)
    }
}
