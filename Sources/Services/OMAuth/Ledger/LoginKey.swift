// The key of one login, and its id.

internal import OMSecrets
internal import OMStorage

/// One login. A counter, a row, a mark and a session each belong to one login.
public struct LoginKey: Hashable, Sendable {
    /// The longest ``Profile/serverIdentity``: a type, an address and an application's name at their longest.
    package static let longestServer = 4200

    /// The ``Profile/serverIdentity``. It separates this login from one of the same name at another server. Empty
    /// without a server.
    public let server: String
    public let profile: ProfileName
    public let domain: IdentityDomain
    public let user: UserName

    /// - Parameter domain: If none, the profile's domain.
    public init(_ user: UserName, _ profile: Profile, _ domain: IdentityDomain = .none) {
        self.init(
            profile: profile.name, user: user, server: profile.serverIdentity,
            domain: domain == .none ? profile.domain : domain)
    }

    /// - Parameter server: A ``Profile/serverIdentity``.
    public init(profile: ProfileName, user: UserName, server: String = "", domain: IdentityDomain = .none) {
        (self.profile, self.user, self.server, self.domain) = (profile, user, server, domain)
    }

    func id(under device: borrowing DeviceKey) -> LoginID {
        let context = Context(
            .loginID, .text(server), .text(profile.text), .text(domain.text), .bytes(user.utf8))
        return LoginID(Array(device.key.fingerprint(context).prefix(LoginID.count)))
    }
}

/// 16 bytes that name a login's row, mark and lock. Only a holder of the device key can compute them.
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
