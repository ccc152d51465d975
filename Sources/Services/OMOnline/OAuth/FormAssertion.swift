// Assertions and tokens of other servers in a request to a token endpoint: of a user as a grant, or of the client as its proof (RFC
// 7521), or to exchange (RFC 8693).

internal import OMCrypto
internal import OMOnlineModel
internal import OMSecrets

extension FormBody {
    /// Adds an assertion with the parameter that says what it is.
    ///
    /// - Parameter ofClient: Whether it proves the client. Otherwise it is the grant, and tells who the user is.
    /// - Throws: ``OnlineFailure/unusableAssertion``
    mutating func add(assertion: borrowing SecretBytes, _ kind: AssertionKind, ofClient: Bool) throws(OnlineRefusal) {
        guard kind.isUsable(assertion) else { throw .failed(.unusableAssertion) }
        if ofClient {
            add("client_assertion_type", kind.clientType)
        } else {
            add("grant_type", kind.grantType)
        }
        let name = ofClient ? "client_assertion" : "assertion"
        switch kind {
        case .jwt: add(name, assertion)
        // It is not read here: only the server decides what it says (RFC 7522, 2.1).
        case .saml2: add(name, Base64URL.encode(assertion))
        }
    }
}

extension FormBody {
    /// Adds a token of another server with the parameter that says what it is (RFC 8693, 2.1).
    ///
    /// Mistake: the source names another file, such as a private key, and its bytes go to the server. A type whose form is known
    /// must have it. Any other token is printable ASCII without blanks, which no PEM is.
    ///
    /// - Throws: ``OnlineFailure/unusableAssertion``
    mutating func add(exchanged token: borrowing SecretBytes, _ name: String, type: String) throws(OnlineRefusal) {
        let kind: AssertionKind? =
            switch type.hasPrefix(TokenExchange.prefix) ? type.dropFirst(TokenExchange.prefix.count) : "" {
            case "jwt", "id_token": .jwt
            case "saml1", "saml2": .saml2
            default: nil
            }
        let isUsable =
            kind?.isUsable(token)
            ?? ((1...AssertionKind.longest).contains(token.count)
                && token.withBytes { bytes in bytes.indices.allSatisfy { (0x21...0x7E).contains(bytes[$0]) } })
        guard isUsable else { throw .failed(.unusableAssertion) }
        // SAML is XML, and is sent base64url-encoded (RFC 8693, 3).
        if kind == .saml2 { add(name, Base64URL.encode(token)) } else { add(name, token) }
        add("\(name)_type", type)
    }
}

extension AssertionKind {
    /// The most bytes of an assertion, and of a token that is exchanged.
    fileprivate static let longest = 256 << 10

    fileprivate var grantType: String {
        switch self {
        case .jwt: "urn:ietf:params:oauth:grant-type:jwt-bearer"
        case .saml2: "urn:ietf:params:oauth:grant-type:saml2-bearer"
        }
    }

    fileprivate var clientType: String {
        switch self {
        case .jwt: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        case .saml2: "urn:ietf:params:oauth:client-assertion-type:saml2-bearer"
        }
    }

    /// Whether the bytes can be such an assertion. A JWT has base64url and dots; XML begins with `<`, after a mark of its encoding or
    /// blanks.
    ///
    /// Mistake: the source names another file, such as a private key, and its bytes go to the server.
    fileprivate func isUsable(_ assertion: borrowing SecretBytes) -> Bool {
        guard (1...Self.longest).contains(assertion.count) else { return false }
        return assertion.withBytes { bytes in
            switch self {
            case .jwt: return Self.isJWT(bytes)
            case .saml2:
                let mark: [UInt8] = [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D]
                for index in bytes.indices where !mark.contains(bytes[index]) { return bytes[index] == UInt8(ascii: "<") }
                return false
            }
        }
    }

    private static func isJWT(_ bytes: Span<UInt8>) -> Bool {
        var dots = 0
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "."): dots += 1
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                break
            default: return false
            }
        }
        // Three parts of a signature, five of an encryption.
        return dots == 2 || dots == 4
    }
}
