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
