#if Server
// A store where a test acts between two steps of a service.

import OMServerStore
import Synchronization
import TestSupport
import Testing

/// Each action runs once, and what it does itself is not interrupted.
final class InterruptedStore: ServerStore {
    typealias Action = @Sendable (any StoreTransaction) throws -> Void

    private struct Plan {
        /// The write transactions until `action`.
        var writes = 0
        var action: (@Sendable () throws -> Void)?
        var statement: (part: String, action: Action)?
    }

    private let store: any ServerStore
    private let plan = Mutex(Plan())

    init(_ store: any ServerStore) { self.store = store }

    /// Runs `action` before a write transaction begins: number 1 is the next one.
    func beforeWrite(_ number: Int, _ action: @escaping @Sendable () throws -> Void) {
        plan.withLock { ($0.writes, $0.action) = (number, action) }
    }

    /// Runs `action` within a transaction, before the next statement that has `part` in it.
    func before(_ part: String, _ action: @escaping Action) { plan.withLock { $0.statement = (part, action) } }

    /// Whether all planned actions have run.
    var isDone: Bool { plan.withLock { $0.action == nil && $0.statement == nil } }

    func transaction<R: Sendable>(_ access: StoreAccess, _ body: (any StoreTransaction) throws -> R) throws -> R {
        if access == .write { try takeAction()?() }
        return try store.transaction(access) { transaction in
            let hasAction = { self.plan.withLock { $0.statement != nil } }
            return try body(InterruptedTransaction(transaction, hasAction: hasAction) { try self.interrupt($0, $1) })
        }
    }

    private func takeAction() -> (@Sendable () throws -> Void)? {
        plan.withLock { plan in
            guard plan.action != nil else { return nil }
            plan.writes -= 1
            return plan.writes == 0 ? plan.action.take() : nil
        }
    }

    private func interrupt(_ sql: String, _ transaction: any StoreTransaction) throws {
        let action = plan.withLock { plan -> Action? in
            guard let statement = plan.statement, sql.contains(statement.part) else { return nil }
            plan.statement = nil
            return statement.action
        }
        try action?(transaction)
    }
}

private final class InterruptedTransaction: StoreTransaction {
    private let transaction: any StoreTransaction
    private let interrupt: (String, any StoreTransaction) throws -> Void
    private let hasAction: () -> Bool

    init(
        _ transaction: any StoreTransaction, hasAction: @escaping () -> Bool,
        _ interrupt: @escaping (String, any StoreTransaction) throws -> Void
    ) {
        (self.transaction, self.hasAction, self.interrupt) = (transaction, hasAction, interrupt)
    }

    private func come(to sql: String) {
        do { try interrupt(sql, transaction) } catch { Issue.record("the action before \(sql): \(error)") }
    }

    func rows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] {
        come(to: sql)
        return try transaction.rows(sql, values)
    }

    func lockedRows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] {
        come(to: sql + " FOR UPDATE")
        return try transaction.lockedRows(sql, values)
    }

    /// With an action one by one, so that it comes between two of them.
    func answers(_ statements: [SQLStatement]) throws(StoreError) -> [[SQLRow]] {
        guard hasAction() else { return try transaction.answers(statements) }
        var answers: [[SQLRow]] = []
        for statement in statements {
            come(to: statement.sql + (statement.locked.map { " FOR UPDATE OF \($0)" } ?? ""))
            answers += try transaction.answers([statement])
        }
        return answers
    }

    func later(_ sql: String, _ values: [SQLValue]) throws(StoreError) {
        come(to: sql)
        try transaction.later(sql, values)
    }

    func eachRow(_ sql: String, _ body: (SQLRow) throws -> Void) throws {
        come(to: sql)
        try transaction.eachRow(sql, body)
    }
}

extension StoreTransaction {
    /// Waits until another transaction of PostgreSQL waits for a lock of this one, or is done: then it does not wait for this one.
    func awaitBlocked(_ store: any ServerStore, orDone isDone: () -> Bool) throws {
        let own = try #require(try row("SELECT CAST(pg_backend_pid() AS BIGINT)")).number(0)
        eventuallyHere {
            let found = try? store.transaction(.read) { transaction in
                try transaction.row(
                    "SELECT 1 FROM pg_stat_activity WHERE CAST(?1 AS BIGINT) = ANY(pg_blocking_pids(pid)) LIMIT 1", .number(own))
            }
            return found.flatMap { $0 } != nil || isDone()
        }
    }
}
#endif
