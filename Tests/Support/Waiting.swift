// Ways to wait that block none of Swift's few threads.

import Foundation
import Glibc

/// Runs blocking code on a thread of its own, so it does not delay other tests.
public func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { done in Thread.detachNewThread { done.resume(returning: body()) } }
}

/// The same for code that can throw.
public func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    let result: Result<Value, any Error> = await onOwnThread { Result { try body() } }
    return try result.get()
}

/// Runs `body` on `count` threads at once.
///
/// - Returns: The results, in the order in which the threads ended.
public func atOnce<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (_ number: Int) throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<count { group.addTask { try await onOwnThread { try body(number) } } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}

/// Waits without a limit for another thread or process that does not report when it is done.
public func eventually(_ isDone: () throws -> Bool) async throws {
    while try !isDone() { try await Task.sleep(for: .milliseconds(10)) }
}

/// The same for synchronous functions: this thread waits. Do not call it on one of Swift's threads.
public func eventuallyHere(_ isDone: () -> Bool) {
    while !isDone() { usleep(1_000) }
}
