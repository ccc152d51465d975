// The source of the key for remembered passwords: this device, or a vault that is open in the agent.

internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMRecords
internal import OMShell

/// The key of the profile's level (`KeychainDataProtection`), if that level is open.
struct RememberingKeySource {
    private let context: CommandContext
    private let profile: Profile
    private let authenticator: Authenticator

    init(_ context: CommandContext, _ profile: Profile, _ authenticator: Authenticator) {
        (self.context, self.profile, self.authenticator) = (context, profile, authenticator)
    }

    /// - Returns: Nil if the profile does not allow remembered passwords, and while the level is locked. Then no password is
    ///   used or kept.
    func key() throws(Failure) -> RememberingKey? {
        let policy = profile.remember
        guard policy.autoLogin.isAllowed || policy.credentials.isAllowed else { return nil }
        guard profile.level.availability != .always else {
            // A login does not need it.
            return try? authenticator.makeDeviceRememberingKey()
        }
        return try VaultAccess(context).rememberingKey(of: profile.level)
    }

    /// Why ``key()`` returned nil.
    var whyNoKey: String {
        guard profile.level.availability != .always else { return "this device has no key" }
        let vault = (try? VaultAccess(context).location.name.shown) ?? ""
        return "the profile keeps it at the level \(profile.level.name), and vault \"\(vault)\" is locked; "
            + "run omvault unlock, then log in again"
    }
}

extension VaultAccess {
    /// The agent's key for passwords that are remembered at `level` of this vault.
    ///
    /// - Returns: Nil while the level is locked in the agent, or if the agent cannot be asked.
    func rememberingKey(of level: ProtectionLevel) -> RememberingKey? {
        guard let agent = agentClient else { return nil }
        do throws(AgentError) {
            guard let key = try agent.client.rememberingKey(agent.paths, of: level) else { return nil }
            return RememberingKey(key)
        } catch {
            warn(error)
            return nil
        }
    }
}
