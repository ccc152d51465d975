#if Server
// Whether a user has answered the question that only he can answer. docs/formats/server-protocol.md, "The SDK's service".

internal import OMJSON
internal import OMSecrets
internal import OMServerStore

/// The step behind a right password, for accounts with questions.
struct QuestionCheck {
    private static let challengeTime: Int64 = 300

    let store: any ServerStore
    let passwords: PasswordCheck

    /// An answer as it is compared: without blanks at its ends, in lower case.
    static func plain(_ answer: String) -> SecretBytes {
        let trimmed = answer.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()
        return SecretBytes(copying: Array(String(trimmed).lowercased().utf8).span)
    }

    /// - Throws: ``SDKProblem`` unless the account has no question, or the body has the right answer to one.
    func check(_ account: AccountName, _ body: SDKBody, now: Int64) throws {
        let questions = try store.transaction(.read) { try QuestionTable.all(of: account, $0) }
        guard !questions.isEmpty else { return }
        guard let challenge = body.challenge else {
            let question = questions[Random.index(below: questions.count)]
            let handle = TokenText.make(.access)
            try store.transaction(.write) {
                try QuestionTable.addChallenge(
                    handle, question.number, of: account, expires: now + Self.challengeTime, transaction: $0)
            }
            throw SDKProblem.challenge(Self.json(question, handle))
        }
        guard let handle = challenge["handle"]?.text, let answers = challenge["answers"]?.elements, answers.count == 1,
            let answer = answers[0].members, let text = answer["answerStr"]?.text
        else { throw SDKProblem.malformed }
        // Attack: answers at once, or a request that is cut off, would be free guesses. Taking the challenge and the charge are
        // committed before the comparison.
        let charged = try store.transaction(.write) { transaction -> UserQuestion? in
            guard let number = try QuestionTable.takeChallenge(handle, of: account, now: now, transaction),
                answer["questionRefId"]?.text == String(number),
                let question = try QuestionTable.locked(number, of: account, transaction)
            else { return nil }
            if let left = PasswordCheck.left(of: question.failures, question.failed, now) {
                throw SDKProblem.tooMany(retryAfter: left)
            }
            try QuestionTable.noteFailures(question.failures + 1, at: now, of: account, number, transaction: transaction)
            return question
        }
        guard let charged, try passwords.isRight(Self.plain(text), charged.hash) else { throw SDKProblem.wrongAnswer }
        try store.transaction(.write) {
            try QuestionTable.noteFailures(0, at: 0, of: account, charged.number, transaction: $0)
        }
    }

    private static func json(_ question: UserQuestion, _ handle: String) -> JSON {
        .object([
            "handle": .string(handle),
            "questions": .array([
                .object([
                    "challengeType": .number("0"), "locale": .string("en"), "questionRefId": .string(String(question.number)),
                    "questionStr": .string(question.text),
                ])
            ]),
        ])
    }
}
#endif
