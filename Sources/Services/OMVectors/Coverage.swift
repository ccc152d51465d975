// What a folder covers, without running any of it.

/// One algorithm of the files, and how much of it there is.
public struct Coverage: Hashable, Sendable {
    /// `ECDSA sigVer`, `block AES CBC`: as the files call it.
    public let algorithm: String
    public internal(set) var files: [String] = []
    public internal(set) var valid = 0
    public internal(set) var invalid = 0
    public internal(set) var acceptable = 0
    /// What of it is not run and why.
    public internal(set) var skips: [SkippedCases] = []

    public var cases: Int { valid + invalid + acceptable }
    /// Whether any case of it runs.
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
