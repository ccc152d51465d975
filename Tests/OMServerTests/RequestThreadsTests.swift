#if Server
// The threads that answer requests, and who waits for them.

import OMServer
import OMSystem
import Testing

@testable import omvault_server

@Suite("Threads of requests") struct RequestThreadsTests {
    @Test("a GET is answered while all other requests wait", .timeLimit(.minutes(1)))
    func reading() async throws {
        let threads = RequestThreads(reading: 1, working: 1), isWaiting = Latch(), isAnswered = Latch()
        // Otherwise this test would wait for ever.
        for method in [ServerRequest.Method.put, .post, .delete] {
            try #require(threads.threads(for: .get) !== threads.threads(for: method))
        }
        async let put: Void = threads.threads(for: .put).run {
            isWaiting.open()
            isAnswered.wait()
        }
        try await threads.reading.run { isWaiting.wait() }
        try await threads.threads(for: .get).run { isAnswered.open() }
        try await put
        try await threads.shutDown()
    }

    @Test(
        "the first request that finds too many waiting is refused, those who wait are answered, and so is the server's own work",
        .timeLimit(.minutes(1)))
    func bound() async throws {
        let threads = BoundedThreads(1), isRefused = Latch(), most = BoundedThreads.mostWaiting + 1
        let answers = await withTaskGroup { group in
            for _ in 0...most {
                group.addTask {
                    do {
                        return try await threads.run {
                            isRefused.wait(); return 200
                        }
                    } catch {
                        async let own = threads.runUnbounded { 1 }
                        isRefused.open()
                        let isOwnDone = (try? await own) == 1
                        return isOwnDone ? (error as? ServerProblem)?.response.status ?? 0 : 0
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.filter { $0 == 200 }.count == most && answers.filter { $0 == 503 }.count == 1)
        try await threads.shutDown()
    }
}
#endif
