/// The result of one file.
public struct FileReport: Sendable {
    /// A case whose result is not the listed one.
    public struct FailedCase: Hashable, Sendable {
        /// The case's name within its file.
        public let id: String
        public let reason: String
    }

    /// The path as the caller gave it, or below the folder that the caller gave.
    public let path: String
    /// Nil for a file that could not be read as vectors.
    public let format: VectorFormat?
    public internal(set) var passed = 0
    /// Cases marked `acceptable` that the policy lets pass.
    public internal(set) var acceptances: [AcceptableCases] = []
    public internal(set) var failures: [FailedCase] = []
    /// The cases that were not run, and why. A file that could not be read counts as one case.
    public internal(set) var skips: [SkippedCases] = []
    /// Why a recognised file has no cases of its own. Such a file is not a skip.
    public internal(set) var note: String?

    init(path: String, format: VectorFormat?, skips: [SkippedCases] = [], note: String? = nil) {
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
        if index == acceptances.endIndex { acceptances.append(AcceptableCases(flags: flags)) }
        if wasAccepted { acceptances[index].accepted += 1 } else { acceptances[index].refused += 1 }
    }
}
