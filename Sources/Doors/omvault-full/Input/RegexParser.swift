// The parser of regular expressions.

/// A part of a regular expression.
indirect enum RegexNode: Sendable {
    case start, end
    case character(CharacterRanges)
    case sequence([RegexNode])
    case choice([RegexNode])
    /// - Parameter position: of the sign that repeats, from 1.
    case repetition(RegexNode, least: Int, most: Int?, position: Int)
}

/// Reads a pattern once, from left to right.
struct RegexParser {
    private static let maximumDepth = 50
    private static let maximumRepetitions = 1000

    private let pattern: [Unicode.Scalar]
    private var index = 0
    private var depth = 0

    init(_ pattern: String) { self.pattern = Array(pattern.unicodeScalars) }

    mutating func whole() throws(BoundedRegex.Problem) -> RegexNode {
        guard !pattern.isEmpty else { throw problem("the pattern is empty") }
        guard pattern.count <= BoundedRegex.maximumCount else {
            throw problem("the pattern is longer than \(BoundedRegex.maximumCount) characters", at: BoundedRegex.maximumCount)
        }
        let node = try choice()
        guard index == pattern.count else { throw problem("this ) closes nothing") }
        return node
    }

    private func problem(_ words: String, at place: Int? = nil) -> BoundedRegex.Problem {
        BoundedRegex.Problem(position: (place ?? index) + 1, words: words)
    }

    private var next: Unicode.Scalar? { index < pattern.count ? pattern[index] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        index += 1
        return true
    }

    private mutating func choice() throws(BoundedRegex.Problem) -> RegexNode {
        var nodes = [try sequence()]
        while take("|") { nodes.append(try sequence()) }
        return nodes.count == 1 ? nodes[0] : .choice(nodes)
    }

    private mutating func sequence() throws(BoundedRegex.Problem) -> RegexNode {
        var nodes: [RegexNode] = []
        while let scalar = next, scalar != "|", scalar != ")" { nodes.append(try repeated(try atom())) }
        return .sequence(nodes)
    }

    private mutating func repeated(_ node: RegexNode) throws(BoundedRegex.Problem) -> RegexNode {
        let start = index
        var (least, most): (Int, Int?) = (0, nil)
        switch next {
        case "*": index += 1
        case "+": (index, least) = (index + 1, 1)
        case "?": (index, most) = (index + 1, 1)
        case "{": (least, most) = try count()
        default: return node
        }
        // The shortest match or the longest: either way there is one.
        _ = take("?")
        return .repetition(node, least: least, most: most, position: start + 1)
    }

    private mutating func count() throws(BoundedRegex.Problem) -> (Int, Int?) {
        let start = index
        index += 1
        guard let least = number() else { throw problem("{ begins a count such as {2,5}; write \\{ for the sign", at: start) }
        var most: Int? = least
        if take(",") { most = number() }
        guard take("}") else { throw problem("this { has no }", at: start) }
        guard least <= most ?? least else { throw problem("this count ends below its begin", at: start) }
        guard max(least, most ?? 0) <= Self.maximumRepetitions else {
            throw problem("a count is at most \(Self.maximumRepetitions)", at: start)
        }
        return (least, most)
    }

    private mutating func number() -> Int? {
        var value: Int?
        while let scalar = next, let digit = scalar.isASCII ? Character(scalar).wholeNumberValue : nil {
            value = min((value ?? 0) * 10 + digit, Self.maximumRepetitions + 1)
            index += 1
        }
        return value
    }

    private mutating func atom() throws(BoundedRegex.Problem) -> RegexNode {
        let start = index
        index += 1
        switch pattern[start] {
        case "^": return .start
        case "$": return .end
        case ".": return .character(.all)
        case "[": return .character(try set(from: start))
        case "\\": return .character(try escape(from: start))
        case "*", "+", "?", "{": throw problem("nothing to repeat", at: start)
        case "(":
            if take("?"), !take(":") { throw problem("a group begins with ( or (?:", at: start) }
            depth += 1
            // Attack: a pattern of thousands of brackets would end the process, because each takes a part of the stack.
            guard depth <= Self.maximumDepth else { throw problem("too many groups inside each other", at: start) }
            let node = try choice()
            guard take(")") else { throw problem("this ( has no )", at: start) }
            depth -= 1
            return node
        case let scalar: return .character(CharacterRanges.one(scalar).inBothCases)
        }
    }

    private mutating func escape(from start: Int) throws(BoundedRegex.Problem) -> CharacterRanges {
        guard let scalar = next else { throw problem("a pattern cannot end with \\", at: start) }
        index += 1
        switch scalar {
        case "d": return .digits
        case "D": return CharacterRanges.digits.opposite
        case "w": return .wordCharacters
        case "W": return CharacterRanges.wordCharacters.opposite
        case "s": return .spaces
        case "S": return CharacterRanges.spaces.opposite
        case "n": return .one("\n")
        case "t": return .one("\t")
        case _ where CharacterRanges.wordCharacters.contains(scalar) && scalar != "_":
            throw problem("omvault does not know this \\", at: start)
        default: return .one(scalar)
        }
    }

    private mutating func set(from start: Int) throws(BoundedRegex.Problem) -> CharacterRanges {
        let isOpposite = take("^")
        var set = CharacterRanges()
        guard next != "]" else { throw problem("this class is empty; write \\] for the sign", at: start) }
        while !take("]") {
            guard let scalar = next else { throw problem("this [ has no ]", at: start) }
            let place = index
            index += 1
            if scalar == "[", next == ":" { throw problem("write \\d, \\w or \\s for a class", at: place) }
            let one = scalar == "\\" ? try escape(from: place) : .one(scalar)
            guard next == "-", index + 1 < pattern.count, pattern[index + 1] != "]" else {
                set.add(one)
                continue
            }
            index += 1
            let end = index
            index += 1
            let other = pattern[end] == "\\" ? try escape(from: end) : .one(pattern[end])
            guard let low = one.single, let high = other.single, low <= high else {
                throw problem("this range does not begin below its end", at: place)
            }
            set.add(low...high)
        }
        return isOpposite ? set.inBothCases.opposite : set.inBothCases
    }
}

extension CharacterRanges {
    /// The only character of the set, if it has one.
    fileprivate var single: UInt32? {
        guard ranges.count == 1, ranges[0].count == 1 else { return nil }
        return ranges[0].lowerBound
    }
}
