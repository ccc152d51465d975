// Names and details of the login log's entries, for people and for scripts.

internal import OMAuth
internal import OMShell

extension LoginEvent {
    /// One word for scripts.
    var name: String {
        switch self {
        case .grantedOffline: "granted_offline"
        case .grantedOnline: "granted_online"
        case .wrongPassword: "wrong_password"
        case .wiped: "wiped"
        case .lockedOut: "locked_out"
        case .wipedByPolicy: "wiped_by_policy"
        case .refused: "refused"
        case .refusedOnline: "refused_online"
        case .compared: "compared"
        case .enrolled: "enrolled"
        case .removed: "removed"
        case .cleared: "cleared"
        case .policyTaken: "policy_taken"
        case .policyRefused: "policy_refused"
        case .clockBehind: "clock_behind"
        case .loggedOut: "logged_out"
        case .policyMissing: "policy_missing"
        case .ledgerReplaced: "ledger_replaced"
        case .strayRows: "stray_rows"
        case .chainBegun: "chain_begun"
        case .unlocked: "unlocked"
        case .tokenGiven: "token_given"
        }
    }

    /// The details, as members of a JSON object.
    var details: KeyValuePairs<String, JSONValue> {
        switch self {
        case .grantedOffline, .wiped, .lockedOut, .wipedByPolicy, .removed, .ledgerReplaced: [:]
        case .grantedOnline(let isCached): ["cached": .flag(isCached)]
        case .wrongPassword(let left): ["attempts_left": .number(Int(left))]
        case .refused(let refusal), .refusedOnline(let refusal), .policyMissing(let refusal): ["reason": .text(refusal.name)]
        case .compared(let isCached): ["same": .flag(isCached)]
        case .enrolled(let isReplaced): ["replaced": .flag(isReplaced)]
        case .cleared(let event): ["because": .text(event.rawValue)]
        case .policyTaken(let epoch), .policyRefused(let epoch): ["epoch": .number(Int(epoch))]
        case .clockBehind(let seconds): ["seconds": .number(Int(clamping: seconds))]
        case .loggedOut(let isCleared): ["cleared": .flag(isCleared)]
        case .strayRows(let first): ["stray": .number(Int(clamping: first))]
        case .chainBegun(let sequence): ["broken_at": .number(Int(clamping: sequence))]
        case .unlocked(let attempts): ["attempts": .number(Int(attempts))]
        case .tokenGiven(let handout):
            [
                "program": handout.program.isEmpty ? .null : .text(handout.program), "pid": .number(Int(handout.process)),
                "uid": .number(Int(handout.user)),
                "scopes": .list(handout.scopes.split(separator: " ").map { .text(String($0)) }),
            ]
        }
    }

    /// The details in words for people.
    fileprivate var words: String {
        switch self {
        case .grantedOffline: "by the cached credential"
        case .grantedOnline(let isCached): isCached ? "by the server; cached" : "by the server; not cached"
        case .wrongPassword(let left): "attempts left: \(left)"
        case .wiped: "too many wrong passwords: the cached credential is destroyed"
        case .lockedOut: "too many wrong passwords"
        case .wipedByPolicy: "the limit was lowered below what had failed"
        case .refused(let refusal): refusal.name
        case .refusedOnline(let refusal): "by the server: \(refusal.name)"
        case .compared(let isCached): isCached ? "the server refused the cached password" : "the server refused another password"
        case .enrolled(let isReplaced): isReplaced ? "instead of an older credential" : "a new credential"
        case .removed: "by omvault login rm"
        case .cleared(let event): event.rawValue
        case .policyTaken(let epoch): "the server's, epoch \(epoch)"
        case .policyRefused(let epoch): "the server's is older than the one known, or another of its epoch: epoch \(epoch)"
        case .clockBehind(let seconds): "by \(seconds) s"
        case .policyMissing(let refusal): "the server let the user in, and its policy did not come: \(refusal.name)"
        case .ledgerReplaced: "it could not be read, and was set aside; a new one begins here"
        case .strayRows(let first): "from \(first) on; they were not this device's, and are deleted"
        case .chainBegun(let sequence): "the log was broken at entry \(sequence); a user began a new chain here"
        case .unlocked(let attempts): "by omvault login unlock; attempts that were counted: \(attempts)"
        case .tokenGiven(let handout):
            "to \(handout.program.isEmpty ? "an unknown program" : handout.program) (uid \(handout.user), pid \(handout.process))"
                + (handout.scopes.isEmpty ? "" : ", scopes \(handout.scopes)")
        case .loggedOut(let isCleared): isCleared ? "and everything about the login is deleted" : "the cached credential stays"
        }
    }
}

extension LoginLogEntry {
    /// The details in words for people, and how often the event happened.
    func words(_ output: Output) -> String {
        count == 1 ? event.words : "\(event.words); \(count) times since \(output.time(first))"
    }
}

extension LoginEvent.Refusal {
    fileprivate var name: String {
        switch self {
        case .offlineNotAllowed: "offline_not_allowed"
        case .noCredential: "no_credential"
        case .expired: "expired"
        case .wiped: "wiped"
        case .lockedOut: "locked_out"
        case .delayed: "delayed"
        case .clockRolledBack: "clock_rolled_back"
        case .quarantined: "quarantined"
        case .rolledBack: "rolled_back"
        case .deviceKey: "device_key"
        case .rejected: "rejected"
        case .forbidden: "forbidden"
        case .blocked: "blocked"
        case .untrusted: "untrusted_server"
        case .unreachable: "unreachable"
        case .failed: "server_error"
        case .other: "other"
        case .notAsked: "not_asked"
        }
    }
}
