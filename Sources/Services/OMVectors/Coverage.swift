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
    public internal(set) var skips: [Skip] = []

    public var cases: Int { valid + invalid + acceptable }
    /// Whether any case of it runs.
    public var isSupported: Bool { skips.reduce(0) { $0 + $1.count } < cases }
}

/// What files hold, in the order of the algorithms' names.
public struct CoverageList: Sendable {
    private var known: [String: Coverage] = [:]
    /// Files without cases, and why: they could not be read as vectors, or belong to others.
    public private(set) var others: [(path: String, reason: String)] = []

    public init() {}

    public var algorithms: [Coverage] {
        known.values.sorted { $0.algorithm.utf8.lexicographicallyPrecedes($1.algorithm.utf8) }
    }

    /// Reads `file` and adds what it holds.
    public mutating func add(_ file: VectorFile) {
        do {
            let reading = try VectorRunner.reading(file)
            if let note = reading.companionOf { others.append((file.path, note)) }
            for vector in reading.cases {
                known[vector.algorithm, default: Coverage(algorithm: vector.algorithm)].add(vector, of: file.path)
            }
        } catch {
            others.append((file.path, error.reason))
        }
    }
}

extension Coverage {
    fileprivate mutating func add(_ vector: VectorCase, of path: String) {
        if files.last != path { files.append(path) }
        switch vector.expectation {
        case .valid: valid += 1
        case .invalid: invalid += 1
        case .acceptable: acceptable += 1
        }
        if case .skip(let reason) = vector.plan { skips.add(1, reason) }
    }
}
