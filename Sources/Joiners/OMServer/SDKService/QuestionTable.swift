#if Server
// The questions that only a user can answer, and the challenges that ask them.

package import OMServerStore

package struct UserQuestion: Hashable, Sendable {
    package let number: Int64
    package let text: String
    /// The hash of the answer: a PHC string.
    let hash: String
    /// Wrong answers since the last right one, and the time of the last one.
    let failures: Int64
    let failed: Int64
}

package enum QuestionTable {
    static let statements = [
        """
        CREATE TABLE question (account TEXT NOT NULL REFERENCES account (name) ON DELETE CASCADE, number INTEGER NOT NULL, \
        text TEXT NOT NULL, hash TEXT NOT NULL, failures INTEGER NOT NULL, failed INTEGER NOT NULL, \
        PRIMARY KEY (account, number)) STRICT
        """,
        """
        CREATE TABLE challenge (digest BLOB NOT NULL PRIMARY KEY, \
        account TEXT NOT NULL REFERENCES account (name) ON DELETE CASCADE, number INTEGER NOT NULL, \
        expires INTEGER NOT NULL) STRICT
        """,
        "CREATE INDEX challenge_account ON challenge (account)",
    ]
    private static let columns = "number, text, hash, failures, failed"

    package static func all(
        of account: AccountName, _ transaction: any StoreTransaction
    ) throws(StoreError) -> [UserQuestion] {
        let rows = try transaction.rows(
            "SELECT \(columns) FROM question WHERE account = ?1 ORDER BY number", .text(account.text))
        var questions: [UserQuestion] = []
        for row in rows { questions.append(try question(row)) }
        return questions
    }

    /// - Returns: false if there is no such account.
    package static func add(
        _ text: String, hash: String, of account: AccountName, _ transaction: any StoreTransaction
    ) throws(StoreError) -> Bool {
        guard try AccountTable.find(account, locked: true, transaction) != nil else { return false }
        let number = (try all(of: account, transaction).last?.number ?? 0) + 1
        try transaction.rows(
            "INSERT INTO question (account, number, text, hash, failures, failed) VALUES (?1, ?2, ?3, ?4, 0, 0)",
            .text(account.text), .number(number), .text(text), .text(hash))
        return true
    }

    package static func remove(
        _ number: Int64, of account: AccountName, _ transaction: any StoreTransaction
    ) throws(StoreError) -> Bool {
        try transaction.row(
            "DELETE FROM question WHERE account = ?1 AND number = ?2 RETURNING number", .text(account.text), .number(number))
            != nil
    }

    static func locked(
        _ number: Int64, of account: AccountName, _ transaction: any StoreTransaction
    ) throws(StoreError) -> UserQuestion? {
        let row = try transaction.lockedRow(
            "SELECT \(columns) FROM question WHERE account = ?1 AND number = ?2", .text(account.text), .number(number))
        guard let row else { return nil }
        return try question(row)
    }

    static func noteFailures(
        _ count: Int64, at now: Int64, of account: AccountName, _ number: Int64, transaction: any StoreTransaction
    ) throws(StoreError) {
        try transaction.rows(
            "UPDATE question SET failures = ?3, failed = ?4 WHERE account = ?1 AND number = ?2", .text(account.text),
            .number(number), .number(count), .number(now))
    }

    // MARK: - Challenges

    static func addChallenge(
        _ handle: String, _ number: Int64, of account: AccountName, expires: Int64, transaction: any StoreTransaction
    ) throws(StoreError) {
        // One challenge of an account at a time: they cannot be collected for many guesses at once.
        try transaction.rows("DELETE FROM challenge WHERE account = ?1", .text(account.text))
        try transaction.rows(
            "INSERT INTO challenge (digest, account, number, expires) VALUES (?1, ?2, ?3, ?4)",
            .bytes(TokenText.digest(handle)), .text(account.text), .number(number), .number(expires))
    }

    /// Takes a challenge away, so it is answered once.
    ///
    /// - Returns: The number of its question.
    static func takeChallenge(
        _ handle: String, of account: AccountName, now: Int64, _ transaction: any StoreTransaction
    ) throws(StoreError) -> Int64? {
        try transaction.row(
            "DELETE FROM challenge WHERE digest = ?1 AND account = ?2 AND expires > ?3 RETURNING number",
            .bytes(TokenText.digest(handle)), .text(account.text), .number(now))?.number(0)
    }

    private static func question(_ row: SQLRow) throws(StoreError) -> UserQuestion {
        UserQuestion(
            number: try row.number(0), text: try row.text(1), hash: try row.text(2), failures: try row.number(3),
            failed: try row.number(4))
    }
}
#endif
