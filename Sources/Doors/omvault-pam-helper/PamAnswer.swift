// The answer to the PAM module: docs/reference/pam.md, "Module and helper". Sources/Doors/pam_omvault/pam_omvault.h has the same.

internal import Glibc
internal import OMAuth
internal import OMOnlineModel

/// The answer to one question of the PAM module.
struct PamAnswer {
    let verdict: Verdict
    /// How long the user must wait; 0: not known.
    var seconds: UInt32 = 0

    /// No verdict is 0.
    enum Verdict: UInt8 {
        case granted = 0x47
        case wrong = 0x57
        case lockedOut = 0x4C
        case wiped = 0x58
        /// The server blocks the account.
        case blocked = 0x4B
        case tooEarly = 0x54
        case busy = 0x42
        case noCredential = 0x4E
        case expired = 0x45
        case unreachable = 0x55
        case noVerdict = 0x53
        case forbidden = 0x46
        /// The name is not a user's name here, or the server cannot be sent it.
        case refused = 0x52
        /// The user may have uid 0, which may not be let in.
        case root = 0x5A
        case broken = 0x44
        /// The helper may not ask a server at this address.
        case address = 0x41
        /// The helper cannot ask the server: the program, or a file or header of the profile, cannot be used.
        case noHelper = 0x48
        /// The profile does not exist, or it needs more than PAM can ask.
        case profile = 0x50
    }

    init(verdict: Verdict, seconds: Int64 = 0) {
        (self.verdict, self.seconds) = (verdict, UInt32(clamping: seconds))
    }

    func send(to descriptor: Int32, answering nonce: [UInt8]) {
        let wait = (0..<4).map { UInt8(truncatingIfNeeded: seconds >> (24 - 8 * UInt32($0))) }
        let bytes = Array("OMA2".utf8) + nonce + [verdict.rawValue] + wait
        // Sent in one piece: the module accepts the whole answer or nothing.
        _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
}

extension PamAnswer {
    /// No error gives ``Verdict/granted``.
    init(_ error: AuthError) {
        switch error {
        case .wrongPassword: self.init(verdict: .wrong)
        case .attemptsExceeded, .wiped: self.init(verdict: .wiped)
        case .lockedOut: self.init(verdict: .lockedOut)
        case .noCredential, .offlineNotAllowed: self.init(verdict: .noCredential)
        case .expired: self.init(verdict: .expired)
        case .busy: self.init(verdict: .busy)
        case .delayed(let seconds): self.init(verdict: .tooEarly, seconds: seconds)
        case .noServer: self.init(verdict: .unreachable)
        case .online(let refusal): self.init(refusal)
        // The offline error says more than the online one, except for a missing credential.
        case .neither(_, .noCredential): self.init(verdict: .unreachable)
        case .neither(_, let offline): self.init(offline)
        case .invalidUserName, .invalidProfileName: self.init(verdict: .refused)
        case .unknownProfile, .profile: self.init(verdict: .profile)
        default: self.init(verdict: .broken)
        }
    }

    private init(_ refusal: OnlineRefusal) {
        switch refusal {
        case .rejected: self.init(verdict: .wrong)
        case .forbidden: self.init(verdict: .forbidden)
        case .blocked: self.init(verdict: .blocked)
        case .unreachable: self.init(verdict: .unreachable)
        case .failed(.unusableUser, _, _): self.init(verdict: .refused)
        // Root configured these, and must repair them.
        case .failed(.unsafeAddress, _, _): self.init(verdict: .address)
        case .failed(.helper, _, _), .failed(.unusableHeaders, _, _), .failed(.unusableTrust, _, _),
            .failed(.unsupportedGrant, _, _):
            self.init(verdict: .noHelper)
        case .failed(_, _, let seconds): self.init(verdict: .noVerdict, seconds: seconds.map { Int64($0) } ?? 0)
        case .untrusted: self.init(verdict: .noVerdict)
        }
    }
}
