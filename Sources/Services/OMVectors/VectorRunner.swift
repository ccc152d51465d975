/// Runs vector files: finds them, reads them, grades their cases.
public enum VectorRunner {
    /// Every file of `paths`, and every file in their folders: in the given order, sorted within a folder.
    ///
    ///     var report = RunReport()
    ///     for file in try VectorRunner.files(["vectors"]) { report.add(VectorRunner.verify(file)) }
    ///     print(report.summary)
    ///
    /// - Throws: ``VectorsError`` for a path that cannot be read at all.
    public static func files(_ paths: [String]) throws(VectorsError) -> [VectorFile] {
        try VectorFile.find(paths)
    }

    /// Runs one file. A file without vectors is not an error: it is skipped with its reason.
    public static func verify(_ file: VectorFile, policy: AcceptancePolicy = .standard) -> FileReport {
        do {
            return run(try reading(file), at: file.path, policy)
        } catch {
            return FileReport(path: file.path, format: nil, skips: [SkippedCases(reason: error.reason, count: 1)])
        }
    }

    /// Flips one bit of each valid case of a file and runs the case again. Each must fail now.
    ///
    /// docs/reference/vectors.md says which bit. Skipped files, and cases that are not run, are not counted.
    public static func control(_ file: VectorFile) -> ControlReport {
        var report = ControlReport(path: file.path)
        guard let reading = try? reading(file) else { return report }
        for vector in reading.cases where vector.expectation == .valid {
            guard case .run = vector.plan, let control = vector.control else { continue }
            if let miss = control.miss() {
                report.misses.append(FileReport.FailedCase(id: vector.id, reason: miss))
            } else {
                report.caught += 1
            }
        }
        return report
    }

    /// The nearest folder `vectors` above the program itself, as in a checkout whose `.build` holds the program, else above the
    /// current directory.
    public static func repositoryFolder() -> String? { VectorFile.repositoryFolder() }

    /// The policy in a policy file.
    ///
    /// - Throws: ``VectorsError``.
    public static func policy(at path: String) throws(VectorsError) -> AcceptancePolicy {
        guard let bytes = try? VectorFile.find([path]).first?.bytes() else { throw .unreadable(path: path) }
        return try AcceptancePolicy(parsing: bytes)
    }

    static func reading(_ file: VectorFile) throws(UnreadableFile) -> ParsedVectors {
        try ParsedVectors.of(try file.bytes(), named: file.name, companions: file.companions)
    }

    static func run(_ reading: ParsedVectors, at path: String, _ policy: AcceptancePolicy = .standard) -> FileReport {
        var report = FileReport(path: path, format: reading.format, note: reading.companionOf)
        for vector in reading.cases {
            switch vector.plan {
            case .skip(let reason): report.skip(reason)
            case .run(let check):
                switch vector.grade(check.run(), by: policy) {
                case .passed: report.passed += 1
                case .acceptable(let wasAccepted):
                    report.accept(vector.flags.joined(separator: ", "), wasAccepted: wasAccepted)
                case .failed(let reason): report.failures.append(FileReport.FailedCase(id: vector.id, reason: reason))
                }
            }
        }
        return report
    }
}
