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
    public var isSupported: Bool { skips.isEmpty }
}

/// What files hold, in the order of the algorithms' names.
public struct CoverageList: Sendable {
    private var known: [String: Coverage] = [:]
    /// Files that could not be read as vectors, with their reason.
    public private(set) var unreadable: [(path: String, reason: String)] = []

    public init() {}

    public var algorithms: [Coverage] {
        known.values.sorted { $0.algorithm.utf8.lexicographicallyPrecedes($1.algorithm.utf8) }
    }

    /// Reads `file` and adds what it holds.
    public mutating func add(_ file: VectorFile) {
        do {
            let reading = try VectorRunner.reading(file)
            for vector in reading.cases {
                known[vector.algorithm, default: Coverage(algorithm: vector.algorithm)].add(vector, of: file.path)
            }
        } catch {
            unreadable.append((file.path, error.reason))
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
