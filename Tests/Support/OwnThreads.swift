// A build without tests has no module Testing, and builds this target all the same.
#if canImport(Testing)
    import Foundation
    public import Testing

    /// Every job of a suite's tests runs on a thread of its own: for tests that call what blocks.
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
