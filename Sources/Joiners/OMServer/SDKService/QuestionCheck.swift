#if Server
// The check of a user's answer to a question that only he can answer. docs/formats/server-protocol.md, "The SDK's service".

internal import OMJSON
internal import OMSecrets
internal import OMServerStore

/// The step after a right password, for accounts with questions.
struct QuestionCheck {
    private static let challengeTime: Int64 = 300

    let store: any ServerStore
    let passwords: PasswordCheck

    /// An answer as it is compared: without bytes up to 0x20 at its ends, and with a–z for A–Z. All other bytes stay.
    static func plain(_ answer: borrowing SecretBytes) -> SecretBytes {
        answer.withBytes { answer in
            let first = answer.indices.first { answer[$0] > 0x20 } ?? answer.count
            let end = answer.indices.last { answer[$0] > 0x20 }.map { $0 + 1 } ?? answer.count
            return SecretBytes(count: end - first) { target in
                for index in target.indices {
                    let byte = answer[first + index]
                    target[index] = (0x41...0x5A).contains(byte) ? byte + 0x20 : byte
                }
            }
        }
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
            let answer = answers[0].members, answer["answerStr"] != nil, let given = body.answer()
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
        guard let charged, try passwords.isRight(Self.plain(given), charged.hash) else { throw SDKProblem.wrongAnswer }
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
