#if Server
// The errors of the SDK's service. docs/formats/server-protocol.md, "The SDK's service".

internal import OMJSON

/// `{"message": …, "oicErrorCode": "IDAAS-9xxxx"}` with a status. The numbers are ours.
struct SDKProblem: Error, Hashable {
    private let status: Int
    private let message: String
    private let number: Int
    private var headers: [String: String] = [:]
    private var challenge: JSON?

    private init(_ status: Int, _ message: String, number: Int) {
        (self.status, self.message, self.number) = (status, message, number)
    }

    static let malformed = SDKProblem(400, "Malformed request", number: 90_400)
    static let authentication = SDKProblem(401, "Failed in authentication", number: 90_001)
    static let registration = SDKProblem(401, "The registration is not valid", number: 90_002)
    static let token = SDKProblem(401, "The token is not valid", number: 90_003)
    static let wrongAnswer = SDKProblem(401, "The answer is wrong", number: 90_005)
    static let blocked = SDKProblem(403, "The account is blocked", number: 90_006)
    static let noService = SDKProblem(404, "No such service", number: 90_404)
    static let noApplication = SDKProblem(404, "No such application", number: 90_404)
    static let mediaType = SDKProblem(415, "Unsupported media type", number: 90_415)

    /// The user has to answer questions first.
    static func challenge(_ challenge: JSON) -> SDKProblem {
        var problem = SDKProblem(401, "A question", number: 90_004)
        problem.challenge = challenge
        return problem
    }

    static func tooMany(retryAfter seconds: Int) -> SDKProblem {
        var problem = SDKProblem(429, "Too many attempts", number: 90_429)
        problem.headers["retry-after"] = String(seconds)
        return problem
    }

    static func notAllowed(_ methods: [ServerRequest.Method]) -> SDKProblem {
        var problem = SDKProblem(405, "Method not allowed", number: 90_405)
        problem.headers["allow"] = methods.map(\.rawValue).sorted().joined(separator: ", ")
        return problem
    }

    var response: ServerResponse {
        var members: [String: JSON] = ["message": .string(message), "oicErrorCode": .string("IDAAS-\(number)")]
        if let challenge { members["challenge"] = challenge }
        var response = ServerResponse(json: .object(members))
        response.status = status
        response.headers.merge(headers) { $1 }
        return response
    }
}
#endif
