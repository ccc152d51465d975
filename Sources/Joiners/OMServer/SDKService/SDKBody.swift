#if Server
// The body of a request to the SDK's service. Its secrets never become texts.

internal import OMJSON
internal import OMSecrets

struct SDKBody {
    /// The members whose strings are secrets.
    private enum Secret: String {
        case password = "X-Idaas-Rest-Subject-Password"
        case token = "X-Idaas-Rest-Subject-Value"
        /// A member of an answer in `challenge`. The others are in the outermost object.
        case answer = "answerStr"
    }

    private let members: [String: JSON]
    private let body: [UInt8]
    /// The position of each secret, within its quotes.
    private let secrets: [Secret: Range<Int>]

    /// - Throws: ``SDKProblem/mediaType``, ``SDKProblem/malformed``.
    init(of request: ServerRequest) throws(SDKProblem) {
        let type = request.headers["content-type"]?.split(separator: ";").first?.lowercased()
        guard type == "application/json" else { throw .mediaType }
        body = request.body
        guard let (secrets, rest) = try? Self.masked(body), let members = (try? JSON(parsing: rest.span))?.members else {
            throw .malformed
        }
        (self.secrets, self.members) = (secrets, members)
    }

    /// The body with an x for each byte of a secret. So everything else is read as JSON usually is.
    ///
    /// - Throws: ``SDKProblem/malformed`` for two answers, since one question is asked; ``MalformedJSON``.
    private static func masked(_ body: [UInt8]) throws -> ([Secret: Range<Int>], [UInt8]) {
        var tokens = JSONTokenizer(0..<body.count)
        var (secrets, depth, next) = ([Secret: Range<Int>](), 0, Secret?.none)
        let span = body.span
        while let token = try tokens.token(in: span) {
            switch token {
            case .name(let name):
                let secret = Secret(rawValue: JSONText.decode(name, in: span))
                next = secret == .answer || depth == 1 ? secret : nil
                continue
            case .string(let range):
                if let next, secrets.updateValue(range, forKey: next) != nil { throw SDKProblem.malformed }
            case .object, .list: depth += 1
            case .objectEnd, .listEnd: depth -= 1
            default: break
            }
            next = nil
        }
        var rest = body
        for index in secrets.values.joined() { rest[index] = UInt8(ascii: "x") }
        return (secrets, rest)
    }

    func text(_ name: String) -> String? { members["X-Idaas-Rest-\(name)"]?.text }

    /// `clientId`: the name of the application.
    var client: String? { members["clientId"]?.text }
    var challenge: [String: JSON]? { members["challenge"]?.members }

    /// Nil if there is none, or it is empty.
    func password() -> Password? {
        guard let bytes = secret(.password) else { return nil }
        return try? Password(bytes)
    }

    /// The digest of the token that the request is made with. Nil if there is none.
    func tokenDigest() -> [UInt8]? {
        guard let token = secret(.token) else { return nil }
        return TokenText.digest(of: token)
    }

    /// The answer to the question. Nil if there is none.
    func answer() -> SecretBytes? { secret(.answer) }

    private func secret(_ name: Secret) -> SecretBytes? {
        guard let range = secrets[name] else { return nil }
        var bytes = SecretBuffer(capacity: range.count)
        JSONText.decode(range, in: body.span) { bytes.append($0) }
        return bytes.finish()
    }
}
#endif
