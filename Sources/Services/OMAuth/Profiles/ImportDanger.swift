// What a configuration URL may not say without the user's word for it. The attack: a link in a message that sets up a
// profile which looks right, tells its sender the password, or leaves the device easier to guess at.

internal import OMRecords

/// Why a value from outside needs the user's own word.
public enum ImportDanger: String, CaseIterable, Hashable, Sendable {
    /// It reads a file or a credential of this machine and sends it to the server.
    case secret
    /// It changes which servers are trusted.
    case trust
    /// It lets a login go on where an untrusted server should stop it.
    case untrustedServer
    /// It lets a login go on where a server that gives no verdict should stop it.
    case failingServer
    /// It names a scheme that the SDK used to keep the password recoverable.
    case recoverableScheme
    /// It keeps the password recoverable.
    case remembersPassword
    /// It allows more guesses than a server may.
    case moreAttempts
    /// It changes what happens after too many guesses.
    case afterAttempts
    /// It keeps the cached credential for longer than it is kept otherwise.
    case longerOffline
    /// It makes what is cached readable at more times, or on other devices.
    case weakerLevel
    /// It keeps the session where every process of the user can read it, beyond the process that it was made for.
    case keepsSession
    /// It has the remembered password sent at each logout.
    case sendsPasswordAgain
    /// It, or its absence, is laxer than what the profile says that would be replaced.
    case laxer
}

extension Profile {
    /// The values that only the user may bring in, and why, in the order of the keys.
    ///
    /// - Parameter old: The profile whose place this one would take. What the administrator allows bounds neither here: it may
    ///   be raised later.
    public func importDangers(replacing old: Profile? = nil) -> [(key: ProfileKey, danger: ImportDanger)] {
        var (new, old) = (self, old)
        new.ceiling = .none
        old?.ceiling = .none
        return ProfileKey.allCases.compactMap { key in
            let danger = new.values[key].flatMap { new.danger(key, $0) } ?? old.flatMap { new.danger(key, replacing: $0) }
            return danger.map { (key, $0) }
        }
    }

    /// Attack: a URL for the server that is used already, which says nothing dangerous and leaves out what the old profile was
    /// strict in. The cached credential stays, and is easier to guess at from then on.
    private func danger(_ key: ProfileKey, replacing old: Profile) -> ImportDanger? {
        switch key {
        case .trustedCA: return trustedCA == old.trustedCA ? nil : .trust
        case .requiredTokens: return Set(requiredTokens).isSuperset(of: old.requiredTokens) ? nil : .laxer
        default:
            guard let laxity = laxity(of: key), let before = old.laxity(of: key) else { return nil }
            return laxity > before ? .laxer : nil
        }
    }

    /// How lax the profile is in what `key` decides: the greater, the laxer. Nil: no value of it is laxer than another.
    private func laxity(of key: ProfileKey) -> Int64? {
        switch key {
        case .profileURL: profileURL == nil ? 1 : 0
        case .connectivityMode:
            switch connectivityMode {
            case .online: 0
            case .auto: 1
            case .offline: 2
            }
        case .offlineAuthAllowed: offlineAuthAllowed ? 1 : 0
        case .offlineCredentialMaxAge: offlineCredentialMaxAge ?? .max
        case .maxLoginAttempts: Int64(maxLoginAttempts)
        case .limitMode: limitMode == .strict ? 0 : 1
        case .onAttemptsExceeded: onAttemptsExceeded == .wipe ? 0 : 1
        case .attemptDelay: -attemptDelay
        case .clockRollback: clockRollback == .deny ? 0 : 1
        case .sessionTimeOut: sessionTimeOut ?? .max
        case .idleTimeOut: idleTimeOut ?? .max
        default: nil
        }
    }

    private func danger(_ key: ProfileKey, _ value: ProfileValue) -> ImportDanger? {
        if key.valueType == .secret { return .secret }
        return switch key {
        case .trustedCA: .trust
        case .offlineOnUntrustedServer: value == .bool(true) ? .untrustedServer : nil
        case .offlineOnServerError: value == .bool(true) ? .failingServer : nil
        case .cryptoScheme: [.plainText, .aes].contains(cryptoScheme) ? .recoverableScheme : nil
        case .autoLoginAllowed, .rememberCredentialsAllowed: value == .bool(true) ? .remembersPassword : nil
        case .maxLoginAttempts: maxLoginAttempts > PolicyCeiling.defaultAttempts ? .moreAttempts : nil
        case .onAttemptsExceeded: .afterAttempts
        case .offlineCredentialMaxAge: offlineCredentialMaxAge.map { $0 > Self.defaultAge } ?? true ? .longerOffline : nil
        case .keychainDataProtection: level != .highest ? .weakerLevel : nil
        case .sessionActiveOnRestart: value == .bool(true) ? .keepsSession : nil
        case .sendAuthorizationHeaderInLogout: value == .bool(true) ? .sendsPasswordAgain : nil
        default: nil
        }
    }
}
