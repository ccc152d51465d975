// The calls of an online provider beside a login, for async callers.

public import OMAuth
public import OMOnlineModel
public import OMSecrets
internal import OMSystem

extension OnlineProvider {
    /// Fetches the policy of a profile's server without a login, for example when a profile is set up. Cancelling ends
    /// it with ``AuthError/policyMissing(_:)``.
    ///
    /// - Returns: nil if the profile has no address for a policy.
    public func policy(of profile: Profile) async throws(AuthError) -> ServerPolicy? {
        let cancellation = OnlineCancellation()
        return try await OwnThread.run({ () throws(AuthError) in
            try self.policy(of: profile, cancellation)
        }) { cancellation.cancel() }
    }

    /// Ends a session at its server that the caller does not keep. It cannot be cancelled, and ends within the
    /// logout's deadline.
    ///
    /// - Returns: Why the session continues at the server. Nil if it does not.
    public func end(_ session: consuming SecretBytes, of request: LoginRequest) async -> OnlineRefusal? {
        let session = session
        do throws(AuthError) {
            return try await OwnThread.run { () throws(AuthError) in self.end(session.duplicate(), of: request) }
        } catch { return .failed(.helper) }
    }
}
