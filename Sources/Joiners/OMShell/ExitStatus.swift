// The exit codes. They are a promise to scripts: the meaning of a number never changes.

/// The exit code of the process.
package enum ExitStatus: Int32, CaseIterable, Sendable {
    case ok = 0
    case general = 1
    case usage = 2
    case aborted = 3
    case unsupported = 4
    case exists = 5
    case noVault = 6
    case locked = 7
    case inputRequired = 8
    case config = 9
    case notFound = 10
    case ambiguous = 11
    case conflict = 12
    case policy = 13
    case permission = 14
    case unchanged = 15
    case busy = 16
    case badSecret = 20
    case delayed = 21
    case lockedOut = 22
    case wiped = 23
    case noOffline = 24
    case corrupt = 30
    case rollback = 31
    case badSignature = 32
    case unsafeAlgorithm = 33
    case vectors = 40
    case auditFindings = 41
    case doctorFindings = 42
    case network = 50
    case remoteAuth = 51
    case remoteError = 52
    case io = 60
    case agent = 61
    case clipboard = 62
    case editor = 63

    /// The name in `exit-codes` and in the `code` of a JSON error.
    package var name: String {
        switch self {
        case .ok: "ok"
        case .general: "general"
        case .usage: "usage"
        case .aborted: "aborted"
        case .unsupported: "unsupported"
        case .exists: "exists"
        case .noVault: "no_vault"
        case .locked: "locked"
        case .inputRequired: "input_required"
        case .config: "config"
        case .notFound: "not_found"
        case .ambiguous: "ambiguous"
        case .conflict: "conflict"
        case .policy: "policy"
        case .permission: "permission"
        case .unchanged: "unchanged"
        case .busy: "busy"
        case .badSecret: "bad_secret"
        case .delayed: "delayed"
        case .lockedOut: "locked_out"
        case .wiped: "wiped"
        case .noOffline: "no_offline"
        case .corrupt: "corrupt"
        case .rollback: "rollback"
        case .badSignature: "bad_signature"
        case .unsafeAlgorithm: "unsafe_alg"
        case .vectors: "vectors"
        case .auditFindings: "audit_findings"
        case .doctorFindings: "doctor_findings"
        case .network: "network"
        case .remoteAuth: "remote_auth"
        case .remoteError: "remote_error"
        case .io: "io"
        case .agent: "agent"
        case .clipboard: "clipboard"
        case .editor: "editor"
        }
    }

    /// The meaning, in a few words.
    package var meaning: String {
        switch self {
        case .ok: "success, granted or match"
        case .general: "an error that no other code names"
        case .usage: "bad command, flag or argument"
        case .aborted: "declined, or the input ended at a prompt; after a signal the code is 128 and its number"
        case .unsupported: "not built in, or not on this platform"
        case .exists: "the target already exists and --force was not given"
        case .noVault: "the vault does not exist"
        case .locked: "the vault, or the item's level, is locked"
        case .inputRequired: "a question is needed, but --no-input was given or there is no terminal"
        case .config: "invalid configuration"
        case .notFound: "no such item, field or revision"
        case .ambiguous: "several items match"
        case .conflict: "another process changed it meanwhile"
        case .policy: "a level, a profile or a rule does not allow it"
        case .permission: "a file's mode or owner is unsafe"
        case .unchanged: "nothing was changed"
        case .busy: "another process kept the lock; nothing was counted or changed"
        case .badSecret: "wrong password, or the hash does not match"
        case .delayed: "too early after a wrong password"
        case .lockedOut: "the login is locked after too many wrong passwords, or the server blocks the account"
        case .wiped: "the cached credential was wiped after too many wrong passwords"
        case .noOffline: "no cached credential, or it is too old"
        case .corrupt: "damaged or forged data"
        case .rollback: "older than the last state seen on this device"
        case .badSignature: "the signature does not verify"
        case .unsafeAlgorithm: "needs --insecure"
        case .vectors: "a test vector failed, or none was run"
        case .auditFindings: "audit found what --fail-on names"
        case .doctorFindings: "verify or doctor found problems"
        case .network: "the server, or the folder of a remote, cannot be reached"
        case .remoteAuth: "the server does not let the user in"
        case .remoteError: "the server gave no usable answer, or its certificate is not trusted"
        case .io: "reading or writing failed, or the disk is full"
        case .agent: "the agent cannot be reached"
        case .clipboard: "there is no clipboard, or its program failed; nothing was copied"
        case .editor: "the editor failed or was killed; nothing was changed"
        }
    }
}
