// The way of a session's tokens into the ledger of logins. Format: docs/formats/login-format.md, "Remembered sessions".

internal import OMAuth
internal import OMSecrets
internal import OMSystem

/// Writes and deletes the sessions that ledgers remember. No lock is held while it does.
struct SessionLedger: Sendable {
    typealias Write = @Sendable (LoginReference, consuming Update) -> Outcome
    typealias Look = @Sendable (LoginReference, _ generation: UInt64) -> Known
    typealias Forget = @Sendable (LoginReference, _ generation: UInt64) -> Void

    /// Writes a state. The tokens are on the disk when it returns.
    let write: Write
    /// Compares the session in memory with the ledger.
    let look: Look
    /// Deletes the session, unless a later state is there.
    let forget: Forget

    /// The tokens of a session, for its next state.
    struct Update: ~Copyable, Sendable {
        let parts: TokenParts
        /// The seconds that the access token lives. Nil for a token without an end.
        let accessLeft: Int64?
        let key: SessionRowKey
    }

    enum Known {
        /// It has this state, or it cannot be read: a write shows it later.
        case same
        /// It has another state, which is newer.
        case other
        /// It has none.
        case absent
    }

    enum Outcome: Equatable {
        /// This state is on the disk.
        case written(UInt64)
        /// This state is on the disk, but not its mark. The state must be written again.
        case unmarked(UInt64)
        /// The ledger has no such session, or a later state of it.
        case gone
        /// It could not be written. The ledger is as it was.
        case failed
    }

    /// The ledgers of this user's logins.
    static let ofLogins = SessionLedger(
        write: { login, update in
            let authenticator = Authenticator(stateFolder: login.state, deviceFolder: login.device)
            do throws(AuthError) {
                let renewed = try authenticator.renewSession(
                    login.key, update.parts, accessLeft: update.accessLeft, update.key)
                return renewed.isMarked ? .written(renewed.generation) : .unmarked(renewed.generation)
            } catch {
                return error == .noCredential ? .gone : .failed
            }
        },
        look: { login, generation in
            let authenticator = Authenticator(stateFolder: login.state, deviceFolder: login.device)
            do throws(AuthError) {
                guard let known = try authenticator.sessionGeneration(login.key) else { return .absent }
                return known == generation ? .same : .other
            } catch { return .same }
        },
        forget: { login, generation in
            let authenticator = Authenticator(stateFolder: login.state, deviceFolder: login.device)
            // A session that stays is refused by its server, and is deleted then.
            try? authenticator.forgetSession(login.key, generation: generation)
        })
}
