// The coverage of vector files, counted without running them.

/// One algorithm of the files, and how many cases it has.
public struct Coverage: Hashable, Sendable {
    /// The files' name for the algorithm: `ECDSA sigVer`, `block AES CBC`.
    public let algorithm: String
    public internal(set) var files: [String] = []
    public internal(set) var valid = 0
    public internal(set) var invalid = 0
    public internal(set) var acceptable = 0
    /// The cases that are not run, and why.
    public internal(set) var skips: [SkippedCases] = []

    public var cases: Int { valid + invalid + acceptable }
    /// Whether any case of the algorithm runs.
    public var isSupported: Bool { skips.reduce(0) { $0 + $1.count } < cases }
}

extension Coverage {
    mutating func add(_ vector: VectorCase, of path: String) {
        if files.last != path { files.append(path) }
        switch vector.expectation {
        case .valid: valid += 1
        case .invalid: invalid += 1
        case .acceptable: acceptable += 1
        }
        if case .skip(let reason) = vector.plan { skips.add(1, reason) }
    }
}
