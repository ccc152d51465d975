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
}

extension Profile {
    /// The values that only the user may bring in, and why, in the order of the keys.
    public var importDangers: [(key: ProfileKey, danger: ImportDanger)] {
        ProfileKey.allCases.compactMap { key in
            guard let value = values[key], let danger = danger(key, value) else { return nil }
            return (key, danger)
        }
    }

    private func danger(_ key: ProfileKey, _ value: ProfileValue) -> ImportDanger? {
        if key.form == .secret { return .secret }
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
        default: nil
        }
    }
}
