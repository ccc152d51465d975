// What a run proved, as values; words and exit codes are the door's.

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
    /// Cases marked `acceptable` that were refused or gave the listed output.
    public internal(set) var acceptable = 0
    public internal(set) var failures: [Failure] = []
    /// What was not run and why; a file that could not be read counts as one.
    public let skips: [Skip]

    public var skipped: Int { skips.reduce(0) { $0 + $1.count } }
    /// `65 passed, 0 failed, 0 acceptable, 0 skipped`.
    public var summary: String {
        "\(passed) passed, \(failures.count) failed, \(acceptable) acceptable, \(skipped) skipped"
    }
}

/// The results of all files, in the order they were run.
public struct Report: Sendable {
    public private(set) var files: [FileReport] = []

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
