import Glibc
import Synchronization
import Testing

@testable import OMSystem

@Suite("Work in several threads") struct OrderedThreadsTests {
    private struct Failed: Error, Equatable {
        let input: Int
    }

    /// Runs work on the numbers up to 100. Every third one takes longer than the others.
    private func taken(
        threads: Int, nextFails: Int? = nil, workFails: Set<Int> = [], takeFails: Int? = nil
    ) -> (taken: [Int], error: Failed?) {
        var (given, taken): (Int, [Int]) = (0, [])
        do throws(Failed) {
            try OrderedThreads.run(
                threads: threads,
                next: { () throws(Failed) -> Int? in
                    if given == nextFails { throw Failed(input: given) }
                    guard given < 100 else { return nil }
                    defer { given += 1 }
                    // The memory of a run is bounded.
                    #expect(given - taken.count < max(1, 2 * threads))
                    return given
                },
                work: { (input: Int) throws(Failed) -> Int in
                    Self.compute(input % 3 == 0 ? 20_000 : 100)
                    guard !workFails.contains(input) else { throw Failed(input: input) }
                    return input * input
                },
                take: { (output: Int) throws(Failed) in
                    if taken.count == takeFails { throw Failed(input: taken.count) }
                    taken.append(output)
                })
            return (taken, nil)
        } catch { return (taken, error) }
    }

    private static func compute(_ steps: Int) {
        var number = steps
        for _ in 0..<steps { number = number &* 31 &+ 7 }
        withExtendedLifetime(number) {}
    }

    private static let squares = (0..<100).map { $0 * $0 }

    @Test("every result is taken once, in the order of the inputs, even if a later one is there before", arguments: 1...5)
    func order(threads: Int) {
        let (results, error) = taken(threads: threads)
        #expect(results == Self.squares && error == nil)
        #expect(takenInPairs(threads: threads) == Self.squares)
    }

    /// The other threads end each even input after the input behind it. The calling thread waits until there is another.
    private func takenInPairs(threads: Int) -> [Int] {
        var (given, taken): (Int, [Int]) = (0, [])
        let caller = pthread_self()
        let isHelped = Latch()
        let ends = (0..<100).map { _ in Latch() }
        try? OrderedThreads.run(
            threads: threads,
            next: { () throws(Failed) -> Int? in
                guard given < 100 else { return nil }
                defer { given += 1 }
                return given
            },
            work: { (input: Int) throws(Failed) -> Int in
                if pthread_equal(pthread_self(), caller) != 0 {
                    if threads > 1 { isHelped.wait() }
                } else {
                    isHelped.open()
                    if input % 2 == 0 { ends[input + 1].wait() }
                }
                ends[input].open()
                return input * input
            },
            take: { (output: Int) throws(Failed) in taken.append(output) })
        return taken
    }

    @Test("the first error in the order of the inputs is thrown, behind all results before it", arguments: 1...4)
    func firstError(threads: Int) {
        // 30 takes longer than 31 and 32, which fail before it in time.
        let cases: [(nextFails: Int?, workFails: Set<Int>, first: Int)] = [
            (nil, [30, 31, 32, 90], 30), (50, [49, 48], 48), (50, [], 50),
        ]
        for (nextFails, workFails, first) in cases {
            let (results, error) = taken(threads: threads, nextFails: nextFails, workFails: workFails)
            #expect(results == Array(Self.squares.prefix(first)) && error == Failed(input: first))
        }
        let (results, error) = taken(threads: threads, workFails: [13], takeFails: 12)
        #expect(results == Array(Self.squares.prefix(12)) && error == Failed(input: 12))
    }

    @Test("no thread works after the end, and signals are blocked on every thread but the calling one")
    func ends() {
        let caller = pthread_self()
        let working = Atomic(0)
        let unblocked = Atomic(0)
        for _ in 0..<20 {
            var given = 0
            // The calling thread waits for help, so that the others surely work.
            let isHelped = Latch()
            _ = try? OrderedThreads.run(
                threads: 3,
                next: { () throws(Failed) -> Int? in
                    given += 1
                    return given < 20 ? given : nil
                },
                work: { (input: Int) throws(Failed) -> Int in
                    working.add(1, ordering: .sequentiallyConsistent)
                    defer { working.subtract(1, ordering: .sequentiallyConsistent) }
                    if pthread_equal(pthread_self(), caller) != 0 {
                        isHelped.wait()
                    } else {
                        isHelped.open()
                        var mask = sigset_t()
                        pthread_sigmask(SIG_BLOCK, nil, &mask)
                        if sigismember(&mask, SIGINT) != 1 { unblocked.add(1, ordering: .relaxed) }
                    }
                    Self.compute(5_000)
                    guard input != 10 else { throw Failed(input: input) }
                    return input
                }, take: { (_: Int) throws(Failed) in })
            #expect(working.load(ordering: .sequentiallyConsistent) == 0)
        }
        #expect(unblocked.load(ordering: .relaxed) == 0)
    }
}
