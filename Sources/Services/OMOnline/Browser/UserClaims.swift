// What a server says about the user who logged in: in an ID token, or at its userinfo endpoint.

internal import OMJSON
internal import OMOnlineModel

struct UserClaims: Sendable {
    private let members: [String: JSON]

    init(_ members: [String: JSON]) { self.members = members }

    /// `sub`, if it can be used.
    var subject: String? { members["sub"]?.text.flatMap { Self.isUsable($0) ? $0 : nil } }

    /// What an API without OpenID Connect calls the user: `id`, a whole number or a text. Attack: a user gives the account another
    /// name, and a stranger takes the old one.
    var number: String? {
        switch members["id"] {
        case .string(let text)? where Self.isUsable(text): text
        case .number(let digits)? where digits.utf8.allSatisfy { (0x30...0x39).contains($0) }: digits
        default: nil
        }
    }

    /// Who the user is, also after a change of the name: `sub`, else `id`, else the name. Nil if there is none that can be used.
    ///
    /// - Parameter claim: As for ``name(_:)``.
    func identity(_ claim: String?) -> String? { subject ?? number ?? (try? name(claim)) }

    /// Whether ``name(_:)`` finds a name without `sub`.
    func hasName(_ claim: String?) -> Bool {
        switch claim {
        case "email"?: verifiedEmail != nil
        case let claim?: members[claim] != nil
        case nil: chosen != nil
        }
    }

    /// The name of the user.
    ///
    /// - Parameter claim: `OAuthUserClaim`. Nil: `preferred_username`, a verified `email`, `sub`, in this order.
    /// - Throws: ``OnlineFailure/unusableName`` if there is none, or if it cannot be shown.
    func name(_ claim: String?) throws(OnlineRefusal) -> String {
        let found: String? =
            switch claim {
            case "email"?: verifiedEmail
            case let claim?: members[claim]?.text
            case nil: chosen ?? members["sub"]?.text
            }
        guard let found, Self.isUsable(found) else { throw .failed(.unusableName) }
        return found
    }

    private var chosen: String? { members["preferred_username"]?.text.flatMap { $0.isEmpty ? nil : $0 } ?? verifiedEmail }

    /// Attack: a user writes another user's address into his own account. Only `true` says that the server has checked it.
    private var verifiedEmail: String? { members["email_verified"] == .bool(true) ? members["email"]?.text : nil }

    /// Attack: a name has characters that move a terminal's cursor or turn the text around.
    static func isUsable(_ name: String) -> Bool {
        (1...NamedUser.longest).contains(name.utf8.count) && ShowableText.isOneLine(name)
    }
}
