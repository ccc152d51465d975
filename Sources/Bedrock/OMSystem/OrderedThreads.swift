// Work on a sequence in several threads. Its results come in the order of the sequence. No other code shares work between
// threads.

internal import COMSystem
internal import Glibc

/// Computes results from inputs in several threads, when a result needs nothing but its input.
///
///     try OrderedThreads.run(next: readBatch, work: { try opener.open($0) }, take: put)
///
/// The calling thread reads the inputs and takes the results, so neither needs a lock. It also works, while it would wait.
/// When `run` returns or throws, the other threads have ended, and nothing uses an input or a key any more.
package enum OrderedThreads {
    /// The most threads of one run, with the calling one.
    package static let mostThreads = 4

    /// As many threads as there are processors.
    package static var usefulThreads: Int { min(mostThreads, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// - Parameters:
    ///   - threads: The number of threads, with the calling one. With 1, or if the system starts no thread, the calling
    ///     thread does everything.
    ///   - next: Gives the next input, or nil after the last one. At most two inputs for each thread wait for their results.
    ///   - work: Runs on any of the threads. Signals are blocked there, because a verb expects them on its own thread.
    ///   - take: Gets each result, in the order of the inputs.
    /// - Throws: The first error in the order of the inputs, as if one thread had done everything.
    package static func run<Input: Sendable, Output: Sendable, E: Error>(
        threads: Int = usefulThreads, next: () throws(E) -> Input?,
        work: @escaping @Sendable (Input) throws(E) -> Output, take: (Output) throws(E) -> Void
    ) throws(E) {
        let queue = WorkQueue(work)
        defer { queue.end() }
        var (ahead, isStarted, isOver) = (0, false, false)
        var failure: E?
        while true {
            while !isOver, ahead < (threads > 1 ? 2 * threads : 1) {
                do throws(E) {
                    if let input = try next() { queue.add(input) } else { isOver = true }
                } catch {
                    // The inputs before it come first, and one of them may have an error of its own.
                    (failure, isOver) = (error, true)
                }
                guard !isOver else { break }
                ahead += 1
                // A single input is not worth a thread.
                if !isStarted, ahead == 2 {
                    queue.start(threads - 1)
                    isStarted = true
                }
            }
            guard ahead > 0 else { break }
            try take(try queue.result().get())
            ahead -= 1
        }
        if let failure { throw failure }
    }
}

/// The inputs that no thread has begun, and the results that were not taken.
private final class WorkQueue<Input: Sendable, Output: Sendable, E: Error>: Sendable {
    private let state: Monitor<State>

    private struct State: Sendable {
        /// Nil at the end, so that a thread that is about to end keeps no key that the work has.
        var work: Work?
        var inputs: [(number: Int, input: Input)] = []
        var results: [Int: Result<Output, E>] = [:]
        /// The numbers of the next input and of the next result.
        var added = 0
        var taken = 0
        var threads = 0

        /// Begins the work on the next input.
        mutating func nextJob() -> Job? {
            guard let work, let next = inputs.first else { return nil }
            inputs.removeFirst()
            return Job(work: work, number: next.number, input: next.input)
        }
    }

    typealias Work = @Sendable (Input) throws(E) -> Output

    private struct Job: Sendable {
        let work: Work
        let number: Int
        let input: Input
    }

    init(_ work: @escaping Work) { state = Monitor(State(work: work)) }

    func add(_ input: Input) {
        state.change { state in
            state.inputs.append((state.added, input))
            state.added += 1
        }
    }

    /// Starts threads, as many as the system lets it.
    func start(_ count: Int) {
        guard count > 0 else { return }
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        guard pthread_sigmask(SIG_SETMASK, &all, &before) == 0 else { return }
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        for _ in 0..<count {
            state.change { $0.threads += 1 }
            if DetachedThread.start(stack: Self.stack, { self.serve() }) != 0 { state.change { $0.threads -= 1 } }
        }
    }

    private static var stack: Int { 512 << 10 }

    /// The next result in the order of the inputs. While it would wait, the calling thread works too.
    func result() -> Result<Output, E> {
        while true {
            let (result, job): (Result<Output, E>?, Job?) = state.wait { state in
                guard let result = state.results.removeValue(forKey: state.taken) else {
                    return state.nextJob().map { (nil, $0) }
                }
                state.taken += 1
                return (result, nil)
            }
            if let result { return result }
            if let job { perform(job) }
        }
    }

    /// Drops the inputs that no thread has begun, and waits until no thread works.
    func end() {
        state.change { state in (state.work, state.inputs) = (nil, []) }
        state.wait { state in state.threads == 0 ? () : nil }
        state.change { $0.results = [:] }
    }

    private func serve() {
        while true {
            let job: Job? = state.wait { state -> Job?? in
                if let job = state.nextJob() { return .some(job) }
                return state.work == nil ? .some(nil) : nil
            }
            guard let job else { break }
            perform(job)
        }
        // Wipes what the work left on the stack.
        om_wipe_stack()
        state.change { $0.threads -= 1 }
    }

    private func perform(_ job: Job) {
        let result: Result<Output, E>
        do throws(E) { result = .success(try job.work(job.input)) } catch { result = .failure(error) }
        state.change { $0.results[job.number] = result }
    }
}
