// The result of a run, as values. The door chooses words and exit codes.

/// The results of all files, in the order of the run.
public struct RunReport: Sendable {
    public private(set) var files: [FileReport] = []
    /// Every reason for a skip, with the number of cases or files that it left out. The largest number comes first.
    public var skips: [SkippedCases] {
        var skips: [SkippedCases] = []
        for skip in files.flatMap(\.skips) { skips.add(skip.count, skip.reason) }
        return skips.sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
    }
    /// The number of files that belong to another file or describe the vectors, by reason.
    public var notes: [SkippedCases] {
        var notes: [SkippedCases] = []
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

    /// Whether the run proves something: no case failed and at least one case ran.
    ///
    /// - Parameter failOnSkip: Whether a skipped case or file counts as a failure.
    public func isProof(failOnSkip: Bool = false) -> Bool {
        failed == 0 && passed + acceptable > 0 && !(failOnSkip && skipped > 0)
    }
}

extension [SkippedCases] {
    mutating func add(_ count: Int, _ reason: String) {
        if let known = firstIndex(where: { $0.reason == reason }) {
            self[known].count += count
        } else {
            append(SkippedCases(reason: reason, count: count))
        }
    }
}
