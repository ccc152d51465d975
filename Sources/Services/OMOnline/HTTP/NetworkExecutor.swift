// Tasks on the thread of the network.

internal import NIOCore
internal import NIOPosix

/// Runs tasks on the thread that reads and writes the connections. A task that waits for the network goes on without a second thread.
///
/// A task that blocks stops the network, so each wait for another process has a thread of its own.
package final class NetworkExecutor: TaskExecutor {
    /// Starts the thread at the first use.
    package static let only = NetworkExecutor(HTTPExchange.thread.any())

    let loop: any EventLoop

    private init(_ loop: any EventLoop) { self.loop = loop }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs `body` once the thread has done what it has at hand now: the bytes that came together, and the tasks that they woke.
    ///
    /// - Parameter turns: The HTTP library passes the next part of an answer on in the second turn after the one before.
    func afterwards(_ turns: Int = 2, _ body: @escaping @Sendable () -> Void) {
        guard turns > 0 else { return body() }
        loop.execute { self.afterwards(turns - 1, body) }
    }
}
