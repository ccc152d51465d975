#if Server
// The body of a request to the SDK's service. Its password never becomes a text.

internal import OMJSON
internal import OMSecrets

struct SDKBody {
    private static let password = "X-Idaas-Rest-Subject-Password"

    private let members: [String: JSON]
    private let body: [UInt8]
    /// The password's place within its quotes.
    private let place: Range<Int>?

    /// - Throws: ``SDKProblem/mediaType``, ``SDKProblem/malformed``.
    init(of request: ServerRequest) throws(SDKProblem) {
        let type = request.headers["content-type"]?.split(separator: ";").first?.lowercased()
        guard type == "application/json" else { throw .mediaType }
        body = request.body
        guard let (place, rest) = try? Self.withoutPassword(body), let members = (try? JSON(parsing: rest.span))?.members else {
            throw .malformed
        }
        (self.place, self.members) = (place, members)
    }

    /// The body with an x for each byte of the password. So everything else is read as JSON usually is.
    private static func withoutPassword(_ body: [UInt8]) throws -> (Range<Int>?, [UInt8]) {
        var tokens = JSONTokenizer(0..<body.count)
        var (place, depth, isNext) = (Range<Int>?.none, 0, false)
        let span = body.span
        while let token = try tokens.token(in: span) {
            switch token {
            case .object, .list: depth += 1
            case .objectEnd, .listEnd: depth -= 1
            case .name(let name): isNext = depth == 1 && JSONText.decode(name, in: span) == password
            case .string(let range):
                if isNext { place = range }
                isNext = false
            default: isNext = false
            }
        }
        guard let place else { return (nil, body) }
        var rest = body
        for index in place { rest[index] = UInt8(ascii: "x") }
        return (place, rest)
    }

    func text(_ name: String) -> String? { members["X-Idaas-Rest-\(name)"]?.text }

    /// `clientId`: the name of the application.
    var client: String? { members["clientId"]?.text }
    var challenge: [String: JSON]? { members["challenge"]?.members }

    /// Nil if there is none, or it is empty.
    func password() -> Password? {
        guard let place, !place.isEmpty else { return nil }
        var bytes = SecretBuffer(capacity: place.count)
        JSONText.decode(place, in: body.span) { bytes.append($0) }
        return try? Password(bytes.finish())
    }
}
#endif
