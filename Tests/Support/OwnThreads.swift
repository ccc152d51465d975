// A trait for tests that block threads. A build without tests also builds this target, but has no module Testing.
#if canImport(Testing)
import Foundation
public import Testing

/// Runs every job of a suite's tests on a thread of its own. For tests that call blocking functions.
public struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    public let isRecursive = true

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadPerJob.only) { try await function() }
    }

    private final class ThreadPerJob: TaskExecutor {
        static let only = ThreadPerJob()

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            Thread.detachNewThread { job.runSynchronously(on: Self.only.asUnownedTaskExecutor()) }
        }
    }
}

extension Trait where Self == OwnThreads {
    public static var onOwnThreads: OwnThreads { OwnThreads() }
}
#endif
