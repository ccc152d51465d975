import Foundation
import TestSupport
import Testing

@testable import OMAuth

/// Random histories of one login, compared with the model.
@Suite struct ModelTests {
    @Test(
        "R57 random steps of logins, networks, power cuts, clocks, policies and restored files match a small model",
        arguments: 0..<4)
    func steps(_ quarter: Int) throws {
        for trace in 0..<Sweep.count(50, sample: 5) {
            // One readable trace is worth more than many equal failures.
            guard try Self.walk(UInt64(quarter * 1_000 + trace + 1), 500, at: { try MemorySite($0) }) else { break }
        }
    }

    @Test(
        "R57 steps on real files match the model, each in its own process that is killed at its writes and syncs",
        .onOwnThreads)
    func processes() async throws {
        let traces = Sweep.count(20, sample: 4), start = Date()
        var kills = 0
        for trace in 0..<traces {
            guard try Self.walk(UInt64(50_000 + trace), 100, at: { try FileSite($0) }, done: { kills += $0.kills }) else {
                return
            }
        }
        print("\(traces * 100) steps on files, \(kills) of them killed, in \(Int(Date().timeIntervalSince(start))) s")
        #expect(kills > traces, "\(kills)")
    }

    @Test("the comparison finds a model with one wrong rule within few steps")
    func sensitive() throws {
        let steps = Step.history(2_000, seed: 5)
        let mismatch = try #require(Self.mismatch(steps, skewing: true) { try MemorySite($0) })
        let least = Self.shrink(Array(steps.prefix(mismatch.index + 1)), skewing: true) { try MemorySite($0) }
        #expect(least.count <= 12, "\(least)")
    }

    /// Takes `count` random steps. For the first step that differs from the model, it reports the earlier steps that matter.
    ///
    /// - Returns: Whether all steps matched the model.
    private static func walk<Site: ModelSite>(
        _ seed: UInt64, _ count: Int, at site: @escaping (TestClock) throws -> Site, done: (Site) -> Void = { _ in }
    ) throws -> Bool {
        let steps = Step.history(count, seed: seed)
        var last: Site?
        let found = mismatch(steps) { clock in
            let made = try site(clock)
            last = made
            return made
        }
        if let last { done(last) }
        guard let found else { return true }
        let least = shrink(Array(steps.prefix(found.index + 1)), at: site)
        let text = mismatch(least, at: site)?.text ?? found.text
        Issue.record("seed \(seed): \(text)\nafter \(least.map { "\($0)" }.joined(separator: ", "))")
        return false
    }

    private static func mismatch<Site: ModelSite>(
        _ steps: [Step], skewing: Bool = false, at site: (TestClock) throws -> Site
    ) -> (index: Int, text: String)? {
        let clock = TestClock()
        let world: ModelWorld<Site>
        do { world = ModelWorld(try site(clock), clock, skewing) } catch { return (0, "no place: \(error)") }
        for (index, step) in steps.enumerated() {
            if let text = world.take(step) { return (index, text) }
        }
        return nil
    }

    /// Drops the steps that do not matter.
    private static func shrink<Site: ModelSite>(
        _ steps: [Step], skewing: Bool = false, at site: (TestClock) throws -> Site
    ) -> [Step] {
        var steps = steps, size = max(1, steps.count / 2)
        while true {
            var start = 0
            var isShorter = false
            while start < steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + size, steps.count))
                if mismatch(fewer, skewing: skewing, at: site) != nil {
                    (steps, isShorter) = (fewer, true)
                } else {
                    start += size
                }
            }
            guard size > 1 || isShorter else { return steps }
            size = max(1, size / 2)
        }
    }
}
