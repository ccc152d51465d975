// Ways to wait that hold none of Swift's few threads.

import Foundation
import Glibc

/// Runs what blocks on a thread of its own, so that it holds up no other test.
public func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { done in Thread.detachNewThread { done.resume(returning: body()) } }
}

/// The same for what can fail.
public func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    let result: Result<Value, any Error> = await onOwnThread { Result { try body() } }
    return try result.get()
}

/// Runs `body` on `count` threads at once.
///
/// - Returns: what each of them returned, in the order in which they ended.
public func atOnce<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (_ number: Int) throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<count { group.addTask { try await onOwnThread { try body(number) } } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}

/// Waits for another thread or process that tells nobody when it is done, however long that takes.
public func eventually(_ isDone: () throws -> Bool) async throws {
    while try !isDone() { try await Task.sleep(for: .milliseconds(10)) }
}

/// The same for plain functions: this thread waits. Only on a thread that is not one of Swift's.
public func eventuallyHere(_ isDone: () -> Bool) {
    while !isDone() { usleep(1_000) }
}
