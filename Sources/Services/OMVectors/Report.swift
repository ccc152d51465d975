// What a run proved, as values; words and exit codes are the door's.

/// Cases that were not run.
public struct Skip: Hashable, Sendable {
    public let reason: String
    public internal(set) var count: Int
}

/// Cases marked `acceptable` that were judged by the policy, by their flags.
public struct Acceptance: Hashable, Sendable {
    /// `Twist`, or several of them with commas between.
    public let flags: String
    public internal(set) var accepted = 0
    public internal(set) var refused = 0
}

/// The result of one file.
public struct FileReport: Sendable {
    /// A case that did not give what the file lists.
    public struct Failure: Hashable, Sendable {
        /// The case's name within its file.
        public let id: String
        public let reason: String
    }

    /// The path as it was given, or below the folder that was given.
    public let path: String
    /// Nil for a file that could not be read as vectors.
    public let format: VectorFormat?
    public internal(set) var passed = 0
    /// Cases marked `acceptable` that the policy lets pass.
    public internal(set) var acceptances: [Acceptance] = []
    public internal(set) var failures: [Failure] = []
    /// What was not run and why; a file that could not be read counts as one.
    public internal(set) var skips: [Skip] = []
    /// Why a file that was recognised holds no cases of its own; it is no skip.
    public internal(set) var note: String?

    init(path: String, format: VectorFormat?, skips: [Skip] = [], note: String? = nil) {
        (self.path, self.format, self.skips, self.note) = (path, format, skips, note)
    }

    public var acceptable: Int { acceptances.reduce(0) { $0 + $1.accepted + $1.refused } }
    public var skipped: Int { skips.reduce(0) { $0 + $1.count } }
    /// `65 passed, 0 failed, 0 acceptable, 0 skipped`.
    public var summary: String {
        "\(passed) passed, \(failures.count) failed, \(acceptable) acceptable, \(skipped) skipped"
    }

    mutating func skip(_ reason: String) { skips.add(1, reason) }

    mutating func accept(_ flags: String, wasAccepted: Bool) {
        let index = acceptances.firstIndex { $0.flags == flags } ?? acceptances.endIndex
        if index == acceptances.endIndex { acceptances.append(Acceptance(flags: flags)) }
        if wasAccepted { acceptances[index].accepted += 1 } else { acceptances[index].refused += 1 }
    }
}

/// The results of all files, in the order they were run.
public struct Report: Sendable {
    public private(set) var files: [FileReport] = []
    /// Every reason for a skip, with how many cases or files it left out, the most first.
    public var skips: [Skip] {
        var skips: [Skip] = []
        for skip in files.flatMap(\.skips) { skips.add(skip.count, skip.reason) }
        return skips.sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
    }
    /// Files that belong to another or are about the vectors, by why.
    public var notes: [Skip] {
        var notes: [Skip] = []
        for file in files {
            if let note = file.note { notes.add(1, note) }
        }
        return notes
    }

    public init() {}

    public mutating func add(_ file: FileReport) { files.append(file) }

    public var passed: Int { files.reduce(0) { $0 + $1.passed } }
    public var failed: Int { files.reduce(0) { $0 + $1.failures.count } }
    public var acceptable: Int { files.reduce(0) { $0 + $1.acceptable } }
    public var skipped: Int { files.reduce(0) { $0 + $1.skipped } }

    /// `N passed, N failed, N acceptable, N skipped`.
    public var summary: String { "\(passed) passed, \(failed) failed, \(acceptable) acceptable, \(skipped) skipped" }

    /// Whether the run proves something: nothing failed and at least one case ran.
    ///
    /// - Parameter failOnSkip: Whether a skipped case or file counts as a failure.
    public func isProof(failOnSkip: Bool = false) -> Bool {
        failed == 0 && passed + acceptable > 0 && !(failOnSkip && skipped > 0)
    }
}

/// What a file's valid cases came to when each had one bit flipped.
public struct ControlReport: Sendable {
    public let path: String
    public internal(set) var caught = 0
    /// The cases whose flipped bit made no difference, or that could not be flipped.
    public internal(set) var misses: [FileReport.Failure] = []

    /// `65 caught, 0 missed`.
    public var summary: String { "\(caught) caught, \(misses.count) missed" }
}

extension [Skip] {
    mutating func add(_ count: Int, _ reason: String) {
        if let known = firstIndex(where: { $0.reason == reason }) {
            self[known].count += count
        } else {
            append(Skip(reason: reason, count: count))
        }
    }
}
