// Why a profile is not one. No case carries a value: what stands in a wrong place may be a secret.

/// Why a profile is refused. ``AuthError/profile(_:)``.
@nonexhaustive
public enum ProfileProblem: Error, Hashable, Sendable {
    /// Not one flat JSON object of strings, numbers and booleans, each key once.
    case malformed
    /// No key of the SDK's or of ours. At most 64 printable ASCII characters; a stranger one counts as malformed.
    case unknownKey(String)
    /// The key is given twice, in one spelling or in two.
    case repeatedKey(ProfileKey)
    /// The key does not take this value; what it takes, ``ProfileKey/form`` says.
    case value(ProfileKey)
    /// A secret stands where only its source may: `file:/PATH` or `cred:NAME`.
    case plainSecret(ProfileKey)
    /// What `AuthServerType`, or another key, makes necessary is not there.
    case missing(ProfileKey)
    /// More than one of the three `…Default` keys is true.
    case severalDefaults
    /// `IdleTimeOutValue` is longer than `SessionTimeOutValue`.
    case idleBeyondSession
    /// `TotalTimeOut` is shorter than `ConnectTimeOut`.
    case totalBelowConnect
    /// `ProfileURL` is not https at the host of the login's server, or there is no such server.
    case policyElsewhere

    // A configuration URL

    /// Not `scheme://[host]?…` of at most 64 KiB and 256 parts, or broken percent-encoding.
    case malformedURL
    /// A configuration URL without a query.
    case urlWithoutQuery
    /// No part of the query is a setting that is taken.
    case nothingToImport

    // What a server or the administrator says

    /// A server's policy is not a JSON object with an integer `epoch`, or holds a value that its key does not take.
    case serverPolicy
    /// The policy is older than the one that is known.
    case serverPolicyOlder(epoch: Int64, known: Int64)
    /// The administrator's policy is not what it must be. Nothing is read as permission.
    case ceiling

    /// The SDK's number for this error, where it has one.
    public var sdkCode: Int? {
        switch self {
        case .value(let key), .plainSecret(let key): key.sdkCode
        // A domain that is needed has a number of its own.
        case .missing(.identityDomain): 10037
        case .missing(let key): key.sdkCode
        case .severalDefaults: 10111
        case .idleBeyondSession: 10104
        case .urlWithoutQuery: 10407
        case .serverPolicy: 10015
        case .malformed, .unknownKey, .repeatedKey, .totalBelowConnect, .policyElsewhere, .malformedURL, .nothingToImport,
            .serverPolicyOlder, .ceiling:
            nil
        }
    }
}
