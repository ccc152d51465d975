// Why a profile is not valid. No case carries a value, because a misplaced value may be a secret.

/// Why a profile is refused. ``AuthError/profile(_:)``.
@nonexhaustive
public enum ProfileProblem: Error, Hashable, Sendable {
    /// The file is not one flat JSON object of strings, numbers and booleans, with each key once.
    case malformed
    /// The key is neither the SDK's nor omvault's. The text has at most 64 printable ASCII characters. Any other
    /// unknown key counts as malformed.
    case unknownKey(String)
    /// The key is given twice, in one spelling or in two.
    case repeatedKey(ProfileKey)
    /// The key does not take this value. ``ProfileKey/valueType`` says which values it takes.
    case value(ProfileKey)
    /// The value is a secret. The key takes only the secret's source: `file:/PATH`, `cred:NAME` or `vault:ITEM:FIELD`.
    case plainSecret(ProfileKey)
    /// A key is missing that `AuthServerType` or another key requires.
    case missing(ProfileKey)
    /// More than one of the three `…Default` keys is true.
    case severalDefaults
    /// `IdleTimeOutValue` is longer than `SessionTimeOutValue`.
    case idleBeyondSession
    /// `TotalTimeOut` is shorter than `ConnectTimeOut`.
    case totalBelowConnect
    /// `ProfileURL` is not https at the host of the login's server, or the profile has no such server.
    case policyElsewhere
    /// `OAuthSenderConstraint` with `OAuthImplicit`. Its token comes through the browser, and is bound to no key.
    case implicitBinding
    /// `OAuthImplicit` without the scope `openid`. Only an ID token says that a token of the browser is for this client.
    case implicitWithoutOpenID

    // A configuration URL

    /// The text is not `scheme://[host]?…` of at most 64 KiB and 256 parts, or its percent-encoding is broken.
    case malformedURL
    /// A configuration URL without a query.
    case urlWithoutQuery
    /// No part of the query is a setting to import.
    case nothingToImport

    // Policies of a server or the administrator

    /// A server's policy is not a JSON object with an integer `epoch`, or one of its keys has an invalid value.
    case serverPolicy
    /// The policy is older than the known one.
    case serverPolicyOlder(epoch: Int64, known: Int64)
    /// The administrator's policy is not valid. Nothing in it counts as permission.
    case ceiling
    /// A file of presets is not what docs/reference/profiles.md allows.
    case presets

    /// The SDK's number for this error, if it has one.
    public var sdkCode: Int? {
        switch self {
        case .value(let key), .plainSecret(let key): key.sdkCode
        // The SDK has a separate number for a missing domain.
        case .missing(.identityDomain): 10037
        case .missing(let key): key.sdkCode
        case .severalDefaults: 10111
        case .idleBeyondSession: 10104
        case .urlWithoutQuery: 10407
        case .serverPolicy: 10015
        case .malformed, .unknownKey, .repeatedKey, .totalBelowConnect, .policyElsewhere, .implicitBinding,
            .implicitWithoutOpenID, .malformedURL, .nothingToImport, .serverPolicyOlder, .ceiling, .presets:
            nil
        }
    }
}
