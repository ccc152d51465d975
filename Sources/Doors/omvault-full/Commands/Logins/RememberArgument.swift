internal import ArgumentParser
internal import OMAuth
internal import OMShell

/// The value of `--remember`.
enum RememberArgument: String, CaseIterable, ExpressibleByArgument {
    case auto, credentials, user, nothing

    /// - Throws: ``ExitStatus/policy`` if the profile does not allow it, so that the user types no password for it.
    func preferences(_ profile: Profile) throws(Failure) -> RememberPreferences {
        let policy = profile.remember
        let (isAllowed, key): (Bool, ProfileKey?) =
            switch self {
            case .auto: (policy.autoLogin.isAllowed, .autoLoginAllowed)
            case .credentials: (policy.credentials.isAllowed, .rememberCredentialsAllowed)
            case .user: (policy.userName.isAllowed, .rememberUsernameAllowed)
            case .nothing: (true, nil)
            }
        guard isAllowed else {
            guard profile.remembersPasswords || self == .user else {
                throw Failure(
                    .policy, "with OAuth only the user name is remembered, so --remember \(rawValue) is not allowed",
                    hint: "--remember user")
            }
            let key = key?.rawValue ?? ""
            throw Failure(
                .policy, "the profile \"\(profile.name.text)\" does not allow --remember \(rawValue)",
                hint: "omvault profile set \(profile.name.text) \(key)=true")
        }
        return preferences
    }

    /// The choice, with the choices that it includes: keeping the password also keeps the name.
    var preferences: RememberPreferences {
        RememberPreferences(
            autoLogin: self == .auto, credentials: self == .auto || self == .credentials, userName: self != .nothing)
    }
}

extension RememberChoice {
    /// Its name in machine-readable answers.
    var word: String {
        switch self {
        case .autoLogin: "auto_login"
        case .credentials: "credentials"
        case .userName: "user_name"
        case .nothing: "nothing"
        }
    }
}
