// What follows a login that succeeded: the one place for it.

internal import OMAgent
internal import OMAuth

struct LoginFinish {
    private let door: Door
    private let profile: Profile
    private let authenticator: Authenticator
    private let keeper: RememberingAccess
    private let agent: SessionAgent
    private let provider: OnlineProvider?
    private let hasKey: Bool
    private let unlock: LoginVaultOpening?

    /// - Parameters:
    ///   - provider: who was asked, or could be.
    ///   - hasKey: whether a password could be remembered.
    ///   - unlock: what the login is to open too.
    init(
        _ door: Door, _ profile: Profile, _ authenticator: Authenticator, _ keeper: RememberingAccess,
        _ agent: SessionAgent, _ provider: OnlineProvider?, hasKey: Bool, _ unlock: LoginVaultOpening?
    ) {
        self.unlock = unlock
        (self.agent, self.provider) = (agent, provider)
        (self.door, self.profile, self.authenticator) = (door, profile, authenticator)
        (self.keeper, self.hasKey) = (keeper, hasKey)
    }

    func finish(_ receipt: consuming LoginReceipt) throws {
        // The login stands, whatever became of what was to be remembered.
        let remembered = (try? authenticator.remembered(profile)) ?? nil
        let request = LoginRequest(receipt.context.user, profile, domain: receipt.context.domain)
        let isKept = agent.keep(receipt, request, provider)
        let unlocking = unlock?.open(receipt)
        try LoginReport(door.output).granted(
            receipt, remembered: kept(remembered), isKept: isKept, isUnlocked: unlocking?.isUnlocked)
        tell(remembered)
        try unlocking?.tell(door.output)
    }

    private func kept(_ remembered: Remembered?) -> RememberChoice {
        guard let remembered, remembered.user != nil else { return .nothing }
        guard remembered.hasPassword else { return .userName }
        return remembered.isArmed ? .autoLogin : .credentials
    }

    private func tell(_ remembered: Remembered?) {
        let wanted = RememberChoice(profile.remember, remembered?.preferences ?? RememberPreferences())
        guard wanted.keepsPassword, !(remembered?.hasPassword ?? false) else { return }
        door.output.notice("the password was not remembered\(hasKey ? "" : ": \(keeper.whyNoKey)")")
    }
}
