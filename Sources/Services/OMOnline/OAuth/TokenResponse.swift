// The answers of a token endpoint (RFC 6749, 5.1 and 5.2), including variants that servers use, and those that a browser brings.

internal import OMJSON
internal import OMOnlineModel

struct TokenResponse: Hashable, Sendable {
    let access: String
    let refresh: String?
    let lifetime: UInt32
    /// The life for a session. If the server names no life and gives no refresh token, the session could not get another token: it
    /// then has the longest one, and the server decides.
    let sessionLifetime: UInt32
    /// Nil if the server does not say. Then it granted the scopes that the client asked for.
    let scopes: [String]?
    /// Not verified.
    let idToken: String?
    /// Whether the tokens are bound to a key of the client (RFC 9449, 5).
    let isBound: Bool

    /// The life of a token whose server names none, in seconds.
    static let standardLifetime: UInt32 = 3_600
    /// The longest life that counts, in seconds.
    static let longestLifetime: UInt32 = 315_360_000

    /// Descriptions of a blocked or disabled account, in lower case and without the full stop. The whole description is
    /// compared: it may quote a user name, and an attacker can choose that name.
    static let blockedDescriptions: Set = [
        "account disabled", "account is disabled", "account is temporarily disabled", "account temporarily disabled",
        "user account is disabled", "user disabled", "user is disabled", "account locked", "account is locked",
        "user account is locked", "user account locked", "user is locked", "user locked", "account blocked",
        "account is blocked", "user is blocked", "user blocked", "account suspended", "account is suspended",
        "user is suspended", "your account is locked. contact your system administrator", "your account is locked",
        "your account is deactivated", "your account is disabled", "user account is deactivated", "user is deactivated",
    ]
    /// The same as error codes. The numbers are from a server that puts one in front of its description.
    static let blockedCodes: Set = [
        "account_disabled", "account_locked", "account_blocked", "user_disabled", "user_locked", "user_blocked",
        "user_suspended",
    ]
    static let blockedNumbers: Set = [50053, 50057]
    /// The same server's numbers for a wrong password and for an unknown user. Its descriptions come in many languages.
    static let wrongPasswordNumbers: Set = [50034, 50126]

    /// Parts of descriptions of a wrong password, in lower case. They include the RFC's own words for `invalid_grant`.
    static let wrongPasswordWords = [
        "password", "passwd", "credential", "username", "user name", "invalid user", "authorization grant",
        "authentication failed", "incorrect", "wrong",
    ]

    /// Whole descriptions of a wrong password, by the error that they come with.
    static let wrongPasswordDescriptions = [
        "invalid_grant": "authentication failure",
        "invalid_request": "invalid 'username' or 'password' in request",
    ]

    /// - Parameter sendsPassword: Whether `invalid_grant` is about a password or about a refresh token.
    init(_ answer: HTTPResponse, sendsPassword: Bool) throws(OnlineRefusal) {
        let document = JSON(answer: answer.body)?.members.map(Document.init)
        if let error = document?.error {
            throw Self.refusal(error, document?.description, answer, sendsPassword: sendsPassword)
        }
        guard answer.isSuccess else {
            switch HTTPExchange.refusal(answer) {
            case .failed(.unexpectedAnswer, let status, _): throw .failed(.unnamedOAuthError, status: status)
            case .failed(.serverError, let status, let wait):
                throw .failed(.oauthServerError, status: status, retryAfter: wait)
            case let general: throw general
            }
        }
        try self.init(document, status: UInt16(answer.status))
    }

    /// The tokens that a browser brings (RFC 6749, 4.2.2; OpenID Connect Core, 3.2.2.5). A refresh token is not read: this grant has
    /// none.
    ///
    /// - Throws: ``OnlineFailure/unexpectedAnswer`` too for a value that is there twice, or is no printable ASCII.
    init(_ parameters: QueryParameters) throws(OnlineRefusal) {
        var fields: [String: JSON] = [:]
        for name in ["access_token", "token_type", "expires_in", "scope", "id_token"] where parameters.has(name) {
            // Attack: of two tokens one belongs to another user, and two programs read different ones.
            guard let bytes = parameters.value(name), bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw .failed(.unexpectedAnswer)
            }
            if !bytes.isEmpty { fields[name] = .string(String(decoding: bytes, as: UTF8.self)) }
        }
        try self.init(Document(fields), status: nil)
    }

    private init(_ document: Document?, status: UInt16?) throws(OnlineRefusal) {
        guard let document, let access = document.access, !access.isEmpty, access.utf8.count <= 64 << 10,
            document.refresh?.utf8.count ?? 0 <= 64 << 10,
            [nil, "bearer", "dpop"].contains(document.type?.lowercased())
        else { throw .failed(.unexpectedAnswer, status: status) }
        self.access = access
        isBound = document.type?.lowercased() == "dpop"
        refresh = document.refresh.flatMap { $0.isEmpty ? nil : $0 }
        sessionLifetime = document.lifetime ?? (refresh == nil ? Self.longestLifetime : Self.standardLifetime)
        lifetime = document.lifetime ?? Self.standardLifetime
        scopes = document.scope?.split(separator: " ").map(String.init)
        idToken = document.idToken.flatMap { (1...64 << 10).contains($0.utf8.count) ? $0 : nil }
    }

    private static func refusal(
        _ error: String, _ description: String?, _ answer: HTTPResponse, sendsPassword: Bool
    ) -> OnlineRefusal {
        let general = HTTPExchange.refusal(answer)
        // An overloaded server says so by its status, whatever else it says.
        if answer.status == 429 || (500...599).contains(answer.status) && error != "temporarily_unavailable" {
            return general
        }
        if sendsPassword, saysBlocked(error, description) { return .blocked }
        let failure: OnlineFailure
        switch error {
        case _ where sendsPassword && isWrongPassword(error, description): return .rejected
        case "invalid_grant" where sendsPassword && saysWrongPassword(description): return .rejected
        // The password may be right: the server may want a consent, a second factor or a new password. So this clears nothing.
        case "invalid_grant": failure = .invalidGrant
        // Some servers answer a wrong password with this error and with status 401.
        case "access_denied" where sendsPassword && answer.status == 401: return .rejected
        case "access_denied": return .forbidden(.accessDenied)
        case "invalid_client": failure = .invalidClient
        case "unauthorized_client": failure = .unauthorizedClient
        case "invalid_scope": failure = .invalidScope
        case "invalid_request": failure = .invalidRequest
        case "invalid_target": failure = .invalidTarget
        case "invalid_dpop_proof": failure = .proofRefused
        case "use_dpop_nonce": failure = .nonceRepeated
        case "unsupported_grant_type": failure = .unsupportedGrant
        case "unsupported_response_type": failure = .unsupportedResponse
        case "temporarily_unavailable":
            guard answer.saysRetryAfter else { return .unreachable(.gateway) }
            return .failed(.temporarilyUnavailable, status: UInt16(answer.status), retryAfter: answer.retryAfter)
        // An error name of the server's own: the status decides.
        default:
            if sendsPassword && answer.status == 401 { return .rejected }
            failure = .otherOAuthError
        }
        return .failed(failure, status: UInt16(answer.status))
    }

    /// Whether `invalid_grant` is about the password: the description is empty or says so.
    static func saysWrongPassword(_ description: String?) -> Bool {
        // "The password is expired" has words of a wrong password, but another number.
        if let number = description.flatMap(number) { return wrongPasswordNumbers.contains(number) }
        guard let plain = description?.lowercased(), plain.contains(where: { $0 != " " }) else { return true }
        return wrongPasswordWords.contains(where: plain.contains)
    }

    static func saysBlocked(_ error: String, _ description: String?) -> Bool {
        if blockedCodes.contains(error) { return true }
        guard let description else { return false }
        if let number = number(description) { return blockedNumbers.contains(number) }
        return blockedDescriptions.contains(plain(description))
    }

    private static func isWrongPassword(_ error: String, _ description: String?) -> Bool {
        description.map { wrongPasswordDescriptions[error] == plain($0) } ?? false
    }

    /// A description for comparison as a whole: in lower case, without a full stop, one blank between words.
    private static func plain(_ description: String) -> String {
        let plain = description.lowercased().split(separator: " ").joined(separator: " ")
        return plain.hasSuffix(".") ? String(plain.dropLast()) : plain
    }

    /// The number at the start of a description, as in `AADSTS50126: …`. If there is one, it alone decides: the rest
    /// may be in any language.
    private static func number(_ description: String) -> Int? {
        let mark = "AADSTS"
        guard description.hasPrefix(mark), let colon = description.firstIndex(of: ":") else { return nil }
        return Int(description[..<colon].dropFirst(mark.count))
    }

    /// The fields of the answer. A field of an unexpected form counts as missing.
    private struct Document {
        let access: String?
        let type: String?
        let refresh: String?
        let scope: String?
        let idToken: String?
        let error: String?
        let description: String?
        let lifetime: UInt32?

        init(_ fields: [String: JSON]) {
            access = fields["access_token"]?.text
            type = fields["token_type"]?.text
            refresh = fields["refresh_token"]?.text
            scope = fields["scope"]?.text ?? fields["scope"]?.texts?.joined(separator: " ")
            idToken = fields["id_token"]?.text
            error = fields["error"]?.text
            description = fields["error_description"]?.text
            // A number, a fraction, or either of them in quotes.
            let seconds: Double? =
                switch fields["expires_in"] {
                case .number(let digits), .string(let digits): Double(digits)
                default: nil
                }
            // A negative life is over. A life that is no number is none.
            lifetime = seconds.flatMap { $0.isFinite ? UInt32(min(max($0, 0), Double(longestLifetime))) : nil }
        }
    }
}
