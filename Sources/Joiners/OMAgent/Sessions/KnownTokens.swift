// Access tokens for a program that cannot read a profile: docs/formats/agent-protocol.md, "Known tokens".

internal import OMAgentProtocol
internal import OMAuth

extension SessionStore {
    /// Notes that the session is of the profile that a client read so.
    ///
    /// Attack, or accident: the profile was changed and the user logged in again since the client read it. The session is then of
    /// another profile, and the reading is not noted.
    func note(_ reading: ProfileReading, of profile: ProfileDigest, _ login: LoginReference) {
        entries.withLock { entries in
            guard let entry = entries[login], entry.profile == profile else { return }
            entry.reading = reading
        }
    }

    /// The token of the only session under the profile, from memory.
    ///
    /// Attack, or accident: the profile was changed since the login, and its token is used as that of the new profile. So the
    /// asker must have read the same as the client that compared the profile with the session.
    ///
    /// - Returns: nil for every other case: the client that can read the profile asks then.
    func knownToken(_ question: KnownTokenQuestion) -> KnownToken? {
        return entries.withLock { entries in
            let clock = clock()
            let found = entries.values.filter { $0.login.isNamed(by: question) }
            guard found.count == 1, let entry = found.first, entry.reading == question.reading,
                let state = entry.description(at: clock)?.state, state != .idle
            else { return nil }
            switch answer(entry, TokenQuestion(atLeast: TokenQuestion.standardLife), after: .notAsked, at: clock) {
            case .none: return nil
            case .some(let reply):
                switch consume reply {
                case .given(let access, _, let status):
                    return status == .good ? KnownToken(login: entry.login, access: access) : nil
                case .none: return nil
                case .refused: return nil
                }
            }
        }
    }
}

extension LoginReference {
    fileprivate func isNamed(by question: KnownTokenQuestion) -> Bool {
        state == question.state && device == question.device && key.profile.text == question.profile
    }
}
