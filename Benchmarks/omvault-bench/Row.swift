// One comparison: the measurement, its unit and its target.

struct Row {
    enum Unit {
        /// Seconds for one operation. Less is better.
        case time
        /// Operations or bytes per second. More is better.
        case rate(String)
        /// Bytes on disk or in memory. Less is better.
        case bytes
    }

    enum Asked {
        /// Our time is at most this multiple of the peer's, or our rate at least this multiple of its rate.
        case ratio(Double)
        /// Ours is at most this many seconds or bytes above the peer's.
        case plus(Double)
        /// Our rate is at least this number per second. The peer does not count.
        case atLeast(Double)
        /// Ours is at most this many seconds or bytes. The peer does not count.
        case atMost(Double)
        /// No target: the peer only shows the scale.
        case nothing
    }

    /// One side of the comparison, measured once in each round.
    struct Side {
        let label: String
        let measure: () throws(BenchError) -> Double
    }

    let name: String
    let unit: Unit
    let asked: Asked
    let ours: Side
    /// Nil if no other program does this.
    let peer: Side?

    struct Result {
        let line: String
        let isMet: Bool
    }

    /// Measures ours, the peer, ours, the peer …, after one round that only warms the caches. The line names a peer that is not
    /// installed. A row whose target needs no peer is then measured without it.
    func run(rounds: Int) throws(BenchError) -> Result {
        var peer = peer
        var missing: String?
        _ = try ours.measure()
        do throws(BenchError) { _ = try peer?.measure() } catch {
            guard error.isOfMissingProgram, !needsPeer else { throw error }
            (peer, missing) = (nil, error.text)
        }
        var samples: ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            samples.0.append(try ours.measure())
            if let peer { samples.1.append(try peer.measure()) }
        }
        let mine = Statistics(samples.0, unit)
        let theirs = peer == nil ? nil : Statistics(samples.1, unit)
        let isMet = isMet(mine.median, theirs?.median ?? 0)
        let columns = [
            name, ours.label, text(mine.best), text(mine.median), missing ?? self.peer?.label ?? "–",
            theirs.map { text($0.best) } ?? "–", theirs.map { text($0.median) } ?? "–",
            theirs.map { Self.fixed(mine.best / $0.best, 3) } ?? "–",
            theirs.map { Self.fixed(mine.median / $0.median, 3) } ?? "–", askedText, isMet ? "" : "**no**",
        ]
        return Result(line: "| " + columns.joined(separator: " | ") + " |", isMet: isMet)
    }

    private var needsPeer: Bool {
        switch asked {
        case .ratio, .plus: true
        case .atLeast, .atMost, .nothing: false
        }
    }

    private func isMet(_ mine: Double, _ theirs: Double) -> Bool {
        switch (asked, unit) {
        case (.ratio(let least), .rate): mine >= least * theirs
        case (.ratio(let most), _): mine <= most * theirs
        case (.plus(let more), _): mine <= theirs + more
        case (.atLeast(let rate), _): mine >= rate
        case (.atMost(let most), _): mine <= most
        case (.nothing, _): true
        }
    }

    private var askedText: String {
        switch (asked, unit) {
        case (.ratio(let least), .rate): "≥ \(Self.fixed(least, 2)) ×"
        case (.ratio(let most), _): "≤ \(Self.fixed(most, 2)) ×"
        case (.plus(let more), .bytes): "≤ peer + \(Self.scaled(more))B"
        case (.plus(let more), _): "≤ peer + \(Self.duration(more))"
        case (.atLeast(let rate), _): "≥ \(Self.scaled(rate))/s"
        case (.atMost(let most), _): "≤ \(text(most))"
        case (.nothing, _): ""
        }
    }

    private func text(_ value: Double) -> String {
        switch unit {
        case .time: Self.duration(value)
        case .rate(let what): "\(Self.scaled(value))\(what)/s"
        case .bytes: "\(Self.scaled(value))B"
        }
    }

    private static func duration(_ seconds: Double) -> String {
        switch seconds {
        case ..<1e-5: "\(fixed(seconds * 1e9, 0)) ns"
        case ..<1: "\(fixed(seconds * 1e3, 2)) ms"
        default: "\(fixed(seconds, 3)) s"
        }
    }

    private static func scaled(_ value: Double) -> String {
        switch value {
        case 1e9...: "\(fixed(value / 1e9, 2)) G"
        case 1e6...: "\(fixed(value / 1e6, 2)) M"
        case 1e3...: "\(fixed(value / 1e3, 1)) k"
        default: "\(fixed(value, 1)) "
        }
    }

    private static func fixed(_ value: Double, _ digits: Int) -> String {
        let scale = (0..<digits).reduce(1.0) { product, _ in product * 10 }
        let whole = Int((value * scale).rounded())
        guard digits > 0 else { return String(whole) }
        let fraction = String(whole % Int(scale))
        return "\(whole / Int(scale)).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
    }
}

private struct Statistics {
    /// The shortest time, or the highest rate.
    let best: Double
    let median: Double

    init(_ samples: [Double], _ unit: Row.Unit) {
        let sorted = samples.sorted()
        let (low, high) = (sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2])
        median = (low + high) / 2
        switch unit {
        case .time, .bytes: best = sorted[0]
        case .rate: best = sorted[sorted.count - 1]
        }
    }
}
