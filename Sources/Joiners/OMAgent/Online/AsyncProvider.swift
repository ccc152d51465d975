// What an online provider is asked beside a login, for those who await it.

public import OMAuth
public import OMOnlineModel
public import OMSecrets
internal import OMSystem

extension OnlineProvider {
    /// Fetches the policy of a profile's server by itself, as a profile is set up. Cancelling ends it with
    /// ``AuthError/policyMissing(_:)``.
    ///
    /// - Returns: nil where the profile names no place from which one would be believed.
    public func policy(of profile: Profile) async throws(AuthError) -> ServerPolicy? {
        let cancellation = OnlineCancellation()
        return try await OwnThread.run({ () throws(AuthError) in
            try self.policy(of: profile, cancellation)
        }) { cancellation.cancel() }
    }

    /// Ends a session at its server that nobody is going to keep. Not to be cancelled; it ends within the logout's deadline.
    ///
    /// - Returns: why it goes on there; nil when it does not.
    public func end(_ session: consuming SecretBytes, of request: LoginRequest) async -> OnlineRefusal? {
        let session = session
        do throws(AuthError) {
            return try await OwnThread.run { () throws(AuthError) in self.end(session.duplicate(), of: request) }
        } catch { return .failed(.helper) }
    }
}
