// Questions of the Mobile and Social service to the user, and the answers to them.

internal import FoundationEssentials
internal import OMJSON
internal import OMOnlineModel
internal import OMSecrets

/// Questions whose answers the user knows. Codes that are sent to a telephone or a mailbox are not supported.
struct KnowledgeChallenge: Codable, Sendable {
    struct Question: Codable, Sendable {
        let text: String
        let reference: String
        let locale: String?
        /// The type as JSON, in the form that the server gave it: a number or a text.
        let type: String
    }

    static let maximumQuestions = 8
    private static let longestQuestion = 512
    private static let longestName = 4096
    /// The types of a question whose answer the user knows, as JSON.
    private static let types: Set = ["0", #""0""#, #""KBA""#]

    /// The server's word for this challenge. It goes back with the answers.
    let handle: String
    let questions: [Question]

    /// - Returns: nil for a challenge of another form or type.
    init?(_ json: JSON) {
        guard let members = json.members, let handle = members["handle"]?.text, handle.utf8.count <= Self.longestName,
            let asked = members["questions"]?.elements, (1...Self.maximumQuestions).contains(asked.count)
        else { return nil }
        var questions: [Question] = []
        for each in asked {
            guard let question = each.members.flatMap(Self.question) else { return nil }
            questions.append(question)
        }
        (self.handle, self.questions) = (handle, questions)
    }

    private static func question(_ members: [String: JSON]) -> Question? {
        guard let text = members["questionStr"]?.text, isShowable(text),
            let reference = members["questionRefId"]?.text, reference.utf8.count <= longestName,
            let type = members["challengeType"]?.serialized, types.contains(type)
        else { return nil }
        let locale = members["locale"]?.text
        guard locale?.utf8.count ?? 0 <= 64 else { return nil }
        return Question(text: text, reference: reference, locale: locale, type: type)
    }

    private static func isShowable(_ text: String) -> Bool {
        (1...longestQuestion).contains(text.utf8.count) && ShowableText.isOneLine(text)
    }

    /// `challenge` of the request with the answers, as JSON.
    ///
    /// - Parameter answers: One for each question, each followed by a line feed.
    /// - Throws: ``OnlineFailure/challenge`` for another number of answers, or an answer that is not UTF-8.
    func reply(_ answers: borrowing SecretBytes) throws(OnlineRefusal) -> SecretBuffer {
        var body = SecretBuffer()
        body.append("{\"handle\":\(JSONText.quoted(handle)),\"answers\":[".utf8Span.span)
        var start = 0
        for (index, question) in questions.enumerated() {
            guard let end = Self.lineEnd(answers, from: start) else { throw .failed(.challenge) }
            let answer = answers.withBytes { bytes in SecretBytes(copying: bytes.extracting(start..<end)) }
            start = end + 1
            body.append("\(index == 0 ? "" : ",")".utf8Span.span)
            body.append("{\"answerStr\":".utf8Span.span)
            do throws(OnlineRefusal) { try JSONBody.quote(answer, into: &body) } catch { throw .failed(.challenge) }
            body.append(",\"challengeType\":\(question.type)".utf8Span.span)
            if let locale = question.locale { body.append(",\"locale\":\(JSONText.quoted(locale))".utf8Span.span) }
            body.append(",\"questionRefId\":\(JSONText.quoted(question.reference))}".utf8Span.span)
        }
        guard start == answers.count else { throw .failed(.challenge) }
        body.append("]}".utf8Span.span)
        return body
    }

    private static func lineEnd(_ answers: borrowing SecretBytes, from start: Int) -> Int? {
        answers.withBytes { bytes in (start..<bytes.count).first { bytes[$0] == UInt8(ascii: "\n") } }
    }
}

/// A login that waits for the answers to the server's questions.
struct WaitingLogin: Codable, Sendable {
    /// The registration handle, if the questions came after the registration.
    let handle: String?
    let challenge: KnowledgeChallenge

    func sealable() throws(OnlineRefusal) -> SecretBytes {
        guard let data = try? JSONEncoder().encode(self) else { throw .failed(.unexpectedAnswer) }
        return SecretBytes(copying: Array(data))
    }

    /// - Throws: ``OnlineFailure/unusableSession``.
    init(_ bytes: borrowing SecretBytes) throws(OnlineRefusal) {
        let data = bytes.withBytes { bytes in Data(bytes.indices.map { bytes[$0] }) }
        guard bytes.count <= ServerSession.maximumBytes, let login = try? JSONDecoder().decode(WaitingLogin.self, from: data)
        else { throw .failed(.unusableSession) }
        self = login
    }

    init(handle: String?, challenge: KnowledgeChallenge) { (self.handle, self.challenge) = (handle, challenge) }
}
