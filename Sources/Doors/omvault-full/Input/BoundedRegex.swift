// A regular expression that does a bounded amount of work for each character of a text.

/// A regular expression. A to Z and a to z are the same in it.
///
/// It knows `.`, `^`, `$`, `|`, groups, classes in brackets, `\d`, `\w`, `\s` and their opposites, `\n`, `\t`, and
/// `*`, `+`, `?`, `{2}`, `{2,}`, `{2,5}`.
///
/// Attack: an item of a foreign vault has a name at which a search that goes back and forth takes years. This one goes
/// through the text once and follows all states together, so a character costs one visit of each state at most.
struct BoundedRegex: Sendable {
    /// The longest pattern, in characters.
    static let maximumCount = 1024
    static let maximumStates = 2000

    /// What is wrong with a pattern, and at which of its characters, from 1.
    struct Problem: Error, Equatable {
        let position: Int
        let words: String
    }

    private enum State: Sendable {
        case character(CharacterRanges)
        case start, end, match
        case either(Int, Int)
    }

    private var states: [State] = []
    /// Visits of the compiler. An empty group makes no state, however often it is repeated.
    private var visits = 0

    init(_ pattern: String) throws(Problem) {
        var parser = RegexParser(pattern)
        let node = try parser.whole()
        try compile(node, at: 1)
        states.append(.match)
    }

    /// Whether the pattern matches any part of the text.
    func matches(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var visited = [Int](repeating: -1, count: states.count)
        var next: [Int] = []
        for position in 0...scalars.count {
            var pending = next + [0]
            next.removeAll(keepingCapacity: true)
            while let index = pending.popLast() {
                guard visited[index] != position else { continue }
                visited[index] = position
                switch states[index] {
                case .match: return true
                case .either(let one, let other): pending += [one, other]
                case .start: if position == 0 { pending.append(index + 1) }
                case .end: if position == scalars.count { pending.append(index + 1) }
                case .character(let ranges):
                    if position < scalars.count, ranges.contains(scalars[position]) { next.append(index + 1) }
                }
            }
        }
        return false
    }

    private mutating func compile(_ node: RegexNode, at position: Int) throws(Problem) {
        visits += 1
        // Attack: a pattern of a few characters such as (((a{999}){999}){999}) asks for more states than memory holds.
        guard visits <= 2 * Self.maximumStates, states.count < Self.maximumStates else {
            throw Problem(position: position, words: "the pattern repeats too much")
        }
        switch node {
        case .start: states.append(.start)
        case .end: states.append(.end)
        case .character(let ranges): states.append(.character(ranges))
        case .sequence(let nodes): for node in nodes { try compile(node, at: position) }
        case .choice(let nodes): try compile(choice: nodes[...], at: position)
        case .repetition(let node, let least, let most, let position):
            for _ in 0..<least { try compile(node, at: position) }
            guard let most else {
                let fork = try compile(fork: node, at: position)
                states.append(.either(fork, fork))
                states[fork] = .either(fork + 1, states.count)
                return
            }
            var forks: [Int] = []
            for _ in least..<most { forks.append(try compile(fork: node, at: position)) }
            for fork in forks { states[fork] = .either(fork + 1, states.count) }
        }
    }

    /// A fork in front of a node. The caller sets its second way.
    private mutating func compile(fork node: RegexNode, at position: Int) throws(Problem) -> Int {
        let fork = states.count
        states.append(.match)
        try compile(node, at: position)
        return fork
    }

    private mutating func compile(choice nodes: ArraySlice<RegexNode>, at position: Int) throws(Problem) {
        var ends: [Int] = []
        for (index, node) in zip(nodes.indices, nodes) {
            guard index + 1 < nodes.endIndex else {
                try compile(node, at: position)
                break
            }
            let fork = try compile(fork: node, at: position)
            ends.append(states.count)
            states.append(.match)
            states[fork] = .either(fork + 1, states.count)
        }
        for end in ends { states[end] = .either(states.count, states.count) }
    }
}

/// A set of characters, as ranges of their numbers.
struct CharacterRanges: Sendable {
    private(set) var ranges: [ClosedRange<UInt32>] = []

    static let all = CharacterRanges(ranges: [0...UInt32.max])
    static let digits = CharacterRanges(ranges: [0x30...0x39])
    static let wordCharacters = CharacterRanges(ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let spaces = CharacterRanges(ranges: [0x09...0x0D, 0x20...0x20])

    static func one(_ scalar: Unicode.Scalar) -> CharacterRanges { CharacterRanges(ranges: [scalar.value...scalar.value]) }

    mutating func add(_ other: CharacterRanges) { ranges += other.ranges }

    mutating func add(_ range: ClosedRange<UInt32>) { ranges.append(range) }

    /// The set with both cases of its ASCII letters.
    var inBothCases: CharacterRanges {
        let cases: [(ClosedRange<UInt32>, (UInt32) -> UInt32)] = [(0x41...0x5A, { $0 + 0x20 }), (0x61...0x7A, { $0 - 0x20 })]
        let others = ranges.flatMap { range in
            cases.compactMap { letters, other in
                range.overlaps(letters)
                    ? other(range.clamped(to: letters).lowerBound)...other(range.clamped(to: letters).upperBound) : nil
            }
        }
        return CharacterRanges(ranges: ranges + others)
    }

    var opposite: CharacterRanges {
        var (result, next) = (CharacterRanges(), UInt32(0))
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound >= next {
            if range.lowerBound > next { result.add(next...range.lowerBound - 1) }
            guard range.upperBound < .max else { return result }
            next = range.upperBound + 1
        }
        result.add(next...UInt32.max)
        return result
    }

    func contains(_ scalar: Unicode.Scalar) -> Bool { ranges.contains { $0.contains(scalar.value) } }
}
