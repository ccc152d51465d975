// Messages about a profile that is refused. They never contain a value: it may be a secret in the wrong place.

internal import OMAuth
internal import OMOnlineModel
internal import OMShell

extension Failure {
    init(_ problem: ProfileProblem) {
        self = Failure(withoutSDKCode: problem).with(sdkCode: problem.sdkCode)
    }

    private init(withoutSDKCode problem: ProfileProblem) {
        switch problem {
        case .malformed:
            self.init(
                .config, "the profile is not one flat JSON object of strings, numbers and booleans",
                hint: "omvault profile set NAME KEY=VALUE writes a valid one")
        case .unknownKey(let key):
            self.init(.config, "\(key.shown) is not a key of a profile", hint: Self.keyHint(key))
        case .repeatedKey(let key): self.init(.config, "\(key.rawValue) is given twice", hint: "give it once")
        case .value(.oauthClientAuthMethod):
            self.init(
                .config, "OAuthClientAuthMethod is not \(ProfileKey.oauthClientAuthMethod.valueType.words)",
                hint: "client_secret_jwt is not supported, because its signature proves no more than the secret itself does; "
                    + "private_key_jwt signs with a key that no server knows")
        case .value(let key):
            self.init(
                .config, "\(key.rawValue) is not \(key.valueType.words)",
                hint: key.valueType.hint ?? "docs/reference/profiles.md lists the keys and their values")
        case .plainSecret(let key):
            self.init(
                .config, "\(key.rawValue) takes the source of the secret, never the secret itself",
                hint:
                    "keep the secret in the vault and set \(key.rawValue)=vault:ITEM:FIELD, or in a file that only you can read and set "
                    + "\(key.rawValue)=file:/PATH, or =cred:NAME")
        case .missing(let key):
            self.init(.config, "\(key.rawValue) is missing", hint: key.missingHint)
        case .severalDefaults:
            self.init(
                .config, "only one of AutoLoginDefault, RememberCredentialDefault and RememberUsernameDefault can be true",
                hint: "set the others to false")
        case .idleBeyondSession:
            self.init(
                .config, "IdleTimeOutValue is longer than SessionTimeOutValue",
                hint: "set IdleTimeOutValue to the same number or less")
        case .totalBelowConnect:
            self.init(.config, "TotalTimeOut is shorter than ConnectTimeOut", hint: "set TotalTimeOut to the same number or more")
        case .policyElsewhere:
            self.init(
                .config,
                "ProfileURL is not https at the host of the login's server, and a policy from another host is not trusted",
                hint: "any port and path of that host will do; if the login's address moves, set both in one command")
        case .implicitBinding:
            self.init(
                .config,
                "OAuthSenderConstraint: a token of OAuthImplicit comes through the browser, so no key can be bound to it",
                hint: "OAuthAuthZGrantType=OAuthAuthorizationCode has tokens that are bound; or set OAuthSenderConstraint=none")
        case .implicitWithoutOpenID:
            self.init(
                .config,
                "OAuthScope must have openid with OAuthImplicit: only an ID token says that a token of the browser is for this client",
                hint: "add openid to OAuthScope; if the server has no ID tokens, use OAuthAuthZGrantType=OAuthAuthorizationCode")
        case .malformedURL:
            self.init(
                .usage, "this is not a configuration URL",
                hint:
                    "its form is SCHEME://[HOST]?KEY::=VALUE&…, at most 64 KiB, 256 parts, no blanks; % only before two hex digits"
            )
        case .urlWithoutQuery:
            self.init(usage: "the configuration URL has no settings after a ?")
        case .nothingToImport:
            self.init(
                .usage, "the configuration URL has no setting to import; nothing was kept",
                hint: "settings have the form KEY::=VALUE; with --components, KEY=VALUE")
        case .serverPolicy:
            self.init(
                .remoteError, "the server's policy cannot be read, so it is not used", hint: "ask the administrator of the server"
            )
        case .serverPolicyOlder(let epoch, let known):
            self.init(
                .rollback,
                "the server's policy has epoch \(epoch), but this device already knows epoch \(known); the policy is not used",
                hint: "ask the administrator of the server for a policy with epoch \(known) or later")
        case .ceiling:
            self.init(
                .config, "\(SystemStore.policy) is not a valid policy, so every login is refused",
                hint: "it must be a flat JSON object of MaxLoginAttempts, OfflineAuthAllowed and OfflineCredentialMaxAge")
        case .presets:
            self.init(
                .config, "\(SystemStore.presets) is not a valid file of presets, so none of it is used",
                hint: "docs/reference/profiles.md, \"Presets\", has its form")
        }
    }

    private static func keyHint(_ key: String) -> String {
        let near = Suggestion.closest(to: key, among: ProfileKey.allCases.map(\.rawValue))
        let page = "docs/reference/profiles.md"
        return near.map { "did you mean \($0)? All keys are in \(page)" } ?? "all keys are in \(page)"
    }
}

extension ProfileKey {
    fileprivate var missingHint: String {
        switch self {
        case .authServerType:
            "a profile with a server needs the kind of server: \(AuthServerType.allCases.map(\.rawValue).joined(separator: ", "))"
        case .logoutURL: "this kind of server needs it; if the server has no logout, set LogoutURL to the address in LoginURL"
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
        case .numberOrZero(let range): "0 (none) or a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .choice(let words), .word(let words): words.count == 1 ? words[0] : "one of \(words.joined(separator: ", "))"
        case .text: "1 to 2048 bytes of text without control characters"
        case .metadata: "the JSON text of an OpenID server's metadata, with its issuer, of at most 32 KiB"
        case .domain: "1 to 255 bytes of text without control characters"
        case .headerName: "the name of a header that may be set"
        case .url: "an http or https address"
        case .origins: "at most 16 addresses without a path, with commas between them"
        case .list: "a list of names with commas between them"
        case .headers: "a list of at most 10 headers, Name:value with commas between them"
        case .path: "an absolute path"
        case .secret: "file:/PATH, cred:NAME or vault:ITEM:FIELD"
        case .identity: "identity:NAME"
        case .scheme: "a scheme that omvault knows"
        case .level: "a protection level"
        }
    }

    fileprivate var hint: String? {
        switch self {
        case .url: "the form is http://HOST[:PORT][/PATH][?QUERY] or https; no user, no password, no fragment, ASCII only"
        case .origins: "for example https://id.example.org,https://keys.example.org:8443"
        case .headers:
            "each name once, and none of the headers that omvault sets: \(OnlineService.Header.reserved.sorted().joined(separator: ", "))"
        case .metadata: "OpenIDConnectConfiguration=\"$(cat FILE)\" takes it from a file"
        case .identity: "omvault cert ls lists the identities of a vault"
        case .scheme: "schemes: \(CryptoScheme.allCases.map(\.rawValue).joined(separator: ", "))"
        case .level: "use one of the SDK's six names, such as KeychainDataAccessibleWhenUnlockedThisDeviceOnly"
        case .list: "at most 64 names; scopes may have blanks between them"
        default: nil
        }
    }
}
