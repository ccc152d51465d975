// Who logs in where: names that are checked once, compared as bytes, and an id that gives them to nobody.

internal import OMSecrets
internal import OMStorage

/// 1 to 255 bytes of UTF-8 without control characters. Names are compared as bytes: no case folding, no normalisation.
public struct UserName: Hashable, Sendable {
    public static let maximumCount = 255

    public let utf8: [UInt8]

    /// - Throws: ``AuthError/invalidUserName``.
    public init(_ text: String) throws(AuthError) {
        guard (1...Self.maximumCount).contains(text.utf8.count), text.isPrintable else { throw .invalidUserName }
        utf8 = Array(text.utf8)
    }

    public var text: String { String(decoding: utf8, as: UTF8.self) }
}

/// 1 to 64 of `A-Z a-z 0-9 . _ -`, not starting with a dot: safe as a file's name.
public struct ProfileName: Hashable, Sendable {
    public static let maximumCount = 64

    public let text: String

    /// - Throws: ``AuthError/invalidProfileName``.
    public init(_ text: String) throws(AuthError) {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard (1...Self.maximumCount).contains(text.utf8.count), isPlain, text.utf8.first != UInt8(ascii: ".") else {
            throw .invalidProfileName
        }
        self.text = text
    }
}

/// The part of a server's users that a login belongs to: up to 255 bytes of UTF-8 without control characters, compared as
/// bytes.
public struct IdentityDomain: Hashable, Sendable {
    public static let maximumCount = 255
    /// No domain.
    public static let none = IdentityDomain(utf8: [])

    public let utf8: [UInt8]

    /// - Parameter text: Empty: no domain.
    /// - Throws: ``AuthError/invalidDomain``.
    public init(_ text: String) throws(AuthError) {
        guard text.utf8.count <= Self.maximumCount, text.isPrintable else { throw .invalidDomain }
        self.init(utf8: Array(text.utf8))
    }

    private init(utf8: [UInt8]) { self.utf8 = utf8 }

    public var text: String { String(decoding: utf8, as: UTF8.self) }
}

/// One login: the counter, the row and the mark belong to this and to nothing less; so does a session.
public struct LoginKey: Hashable, Sendable {
    /// No ``Profile/serverIdentity`` is longer: a type, an address and an application's name at their longest.
    public static let longestServer = 4200

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
    fileprivate var isPrintable: Bool {
        unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }
}
