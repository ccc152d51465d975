// What the user reads about a profile that is refused. Never a value: it may be a secret in the wrong place.

internal import OMAuth
internal import OMOnlineModel

extension Failure {
    init(_ problem: ProfileProblem) {
        self = Failure(withoutSDKCode: problem).with(sdkCode: problem.sdkCode)
    }

    private init(withoutSDKCode problem: ProfileProblem) {
        switch problem {
        case .malformed:
            self.init(.config, "the profile is not one flat JSON object of strings, numbers and booleans")
        case .unknownKey(let key):
            self.init(.config, "\(key.shown) is no key of a profile", hint: Self.keyHint(key))
        case .repeatedKey(let key): self.init(.config, "\(key.rawValue) is given twice")
        case .value(let key):
            self.init(
                .config, "\(key.rawValue) is not \(key.valueType.words)", hints: key.valueType.hint.map { [$0] } ?? [])
        case .plainSecret(let key):
            self.init(
                .config, "\(key.rawValue) takes where the secret is, never the secret",
                hint: "write it to a file that only you can read, then \(key.rawValue)=file:/PATH; or cred:NAME")
        case .missing(let key):
            self.init(.config, "\(key.rawValue) is missing", hint: key.missingHint)
        case .severalDefaults:
            self.init(
                .config, "of AutoLoginDefault, RememberCredentialDefault and RememberUsernameDefault one can be true")
        case .idleBeyondSession:
            self.init(.config, "IdleTimeOutValue is longer than SessionTimeOutValue")
        case .totalBelowConnect: self.init(.config, "TotalTimeOut is shorter than ConnectTimeOut")
        case .policyElsewhere:
            self.init(
                .config, "ProfileURL is not https at the host of the login's server: no policy from elsewhere is believed",
                hint: "any port and path there; where the login's address moves, set both in one command")
        case .malformedURL:
            self.init(
                .usage, "that is no configuration URL",
                hint: "SCHEME://[HOST]?KEY::=VALUE&…, at most 64 KiB, 256 parts, no blanks; % only before two hex digits")
        case .urlWithoutQuery:
            self.init(.usage, "the configuration URL has no settings behind a ?")
        case .nothingToImport:
            self.init(
                .usage, "nothing in the configuration URL is a setting that is taken; nothing was kept",
                hint: "settings are KEY::=VALUE; with --components KEY=VALUE")
        case .serverPolicy:
            self.init(.remoteError, "the server's policy is not understood, so nothing of it is used")
        case .serverPolicyOlder(let epoch, let known):
            self.init(.rollback, "the server's policy has epoch \(epoch), and \(known) was seen already; it is not used")
        case .ceiling:
            self.init(
                .config, "\(SystemStore.policy) is not a policy, so no login is judged",
                hint: "a flat JSON object of MaxLoginAttempts, OfflineAuthAllowed and OfflineCredentialMaxAge")
        }
    }

    private static func keyHint(_ key: String) -> String {
        let near = Suggestion.closest(to: key, among: ProfileKey.allCases.map(\.rawValue))
        return near.map { "did you mean \($0)? All keys are in docs/profiles.md" } ?? "all keys are in docs/profiles.md"
    }
}

extension ProfileKey {
    fileprivate var missingHint: String {
        switch self {
        case .authServerType:
            "a profile with a server says which kind: \(AuthServerType.allCases.map(\.rawValue).joined(separator: ", "))"
        case .logoutURL: "this kind of server needs it; for a server that has no logout give it the address in LoginURL"
        case .identityDomain: "IdentityDomainNameInHeader needs it; or CollectIdentityDomain=true asks the user"
        default: "this kind of server needs it; set both in one command"
        }
    }
}

extension ProfileValueType {
    fileprivate var words: String {
        switch self {
        case .flag: "true or false"
        case .number(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .numberOrZero(let range): "0, for none, or a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .choice(let words), .word(let words): words.count == 1 ? words[0] : "one of \(words.joined(separator: ", "))"
        case .text: "1 to 2048 bytes of text without control characters"
        case .longText: "1 byte to 32 KiB of text"
        case .domain: "1 to 255 bytes of text without control characters"
        case .headerName: "the name of a header that may be set"
        case .url: "an http or https address"
        case .list: "a list of names with commas between them"
        case .headers: "a list of at most 10 headers, Name:value with commas between them"
        case .path: "an absolute path"
        case .secret: "file:/PATH or cred:NAME"
        case .scheme: "a scheme that there is"
        case .level: "a protection level"
        }
    }

    fileprivate var hint: String? {
        switch self {
        case .url: "http://HOST[:PORT][/PATH][?QUERY] or https; no user, no password, no fragment, ASCII only"
        case .headers:
            "each name once, and never one that the request has of its own: \(OnlineService.Header.reserved.sorted().joined(separator: ", "))"
        case .scheme: "schemes: \(CryptoScheme.allCases.map(\.rawValue).joined(separator: ", "))"
        case .level: "one of the SDK's six, such as KeychainDataAccessibleWhenUnlockedThisDeviceOnly"
        case .list: "at most 64 names; scopes may have blanks between them"
        default: nil
        }
    }
}
