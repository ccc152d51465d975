// The key of one login, and its id.

internal import OMSecrets
internal import OMStorage

/// One login: the counter, the row and the mark belong to this and to nothing less; so does a session.
public struct LoginKey: Hashable, Sendable {
    /// No ``Profile/serverIdentity`` is longer: a type, an address and an application's name at their longest.
    package static let longestServer = 4200

    /// The ``Profile/serverIdentity``, so that a login there never meets one of the same name elsewhere; empty without a
    /// server.
    public let server: String
    public let profile: ProfileName
    public let domain: IdentityDomain
    public let user: UserName

    /// - Parameter domain: None: the profile's, if it names one.
    public init(_ user: UserName, _ profile: Profile, _ domain: IdentityDomain = .none) {
        self.init(
            profile: profile.name, user: user, server: profile.serverIdentity,
            domain: domain == .none ? profile.domain : domain)
    }

    /// - Parameter server: As ``Profile/serverIdentity`` has it.
    public init(profile: ProfileName, user: UserName, server: String = "", domain: IdentityDomain = .none) {
        (self.profile, self.user, self.server, self.domain) = (profile, user, server, domain)
    }

    func id(under device: borrowing DeviceKey) -> LoginID {
        let context = Context(
            .loginID, .text(server), .text(profile.text), .text(domain.text), .bytes(user.utf8))
        return LoginID(Array(device.key.fingerprint(context).prefix(LoginID.count)))
    }
}

/// 16 bytes that name a login's row, mark and lock, and that only a holder of the device key can compute.
struct LoginID: Hashable, Sendable {
    static let count = 16

    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        precondition(bytes.count == Self.count, "a login id has 16 bytes")
        self.bytes = bytes
    }
}

extension String {
    var isPrintable: Bool {
        unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }
}
