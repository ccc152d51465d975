// The answers of the Mobile and Social service, as JSON.

internal import OMJSON
internal import OMOnlineModel

enum OAMMSAnswer: Sendable {
    case token(String)
    /// The server has a question for the user.
    case asked(KnowledgeChallenge)
    /// The registration handle is not valid any more.
    case handleRefused

    /// The prefix of names in requests and answers.
    static let prefix = "X-Idaas-Rest-"
    /// The server's word for a wrong password.
    private static let wrongPassword = "IDAAS-90001"
    /// The server's word for an unknown or revoked handle.
    private static let wrongHandle = "IDAAS-90002"

    /// What a request carried. A refusal may be about each of these.
    struct Proofs: Sendable {
        var hasPassword = true
        var hasHandle = false
        var hasAnswers = false
    }

    /// - Parameter type: The type of token that was asked for.
    init(_ answer: HTTPResponse, _ type: String, _ proofs: Proofs) throws(OnlineRefusal) {
        let status = UInt16(clamping: answer.status)
        let members = JSON(answer: answer.body)?.members ?? [:]
        if answer.isSuccess || answer.status == 401, let asked = members["challenge"], asked != .null {
            // The answers were wrong, or the form is unknown. Attack: a server asks again and again, and each time it gets
            // the password. So the login ends here.
            guard !proofs.hasAnswers, let challenge = KnowledgeChallenge(asked) else {
                throw .failed(.challenge, status: status)
            }
            self = .asked(challenge)
        } else if answer.isSuccess {
            guard members[Self.prefix + "Token-Type"] == .string(type), let token = members[Self.prefix + "Token-Value"]?.text,
                !token.isEmpty, token.utf8.count <= 64 << 10
            else { throw .failed(.unexpectedAnswer, status: status) }
            self = .token(token)
        } else if answer.status == 401, proofs.hasHandle || proofs.hasAnswers {
            // A wrong answer to a question must not count as a wrong password: that would delete a good credential.
            switch members["oicErrorCode"]?.text {
            case Self.wrongPassword?: throw .rejected
            case Self.wrongHandle? where proofs.hasHandle: self = .handleRefused
            default:
                guard !proofs.hasAnswers else { throw .failed(.challenge, status: status) }
                // Without a password the request was about a token.
                guard proofs.hasPassword else { throw .rejected }
                self = .handleRefused
            }
        } else {
            throw Self.refusal(answer)
        }
    }

    /// The meaning of a status that is no success. 404 is never a wrong password.
    static func refusal(_ answer: HTTPResponse) -> OnlineRefusal {
        answer.status == 404 ? .failed(.noService, status: 404) : HTTPExchange.refusal(answer)
    }
}
