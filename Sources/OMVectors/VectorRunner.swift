/// Runs vector files: finds them, reads them, judges their cases.
public enum VectorRunner {
    /// Every file of `paths`, folders with all that is in them: in the order given, sorted within a folder.
    ///
    ///     var report = Report()
    ///     for file in try VectorRunner.files(["vectors"]) { report.add(VectorRunner.verify(file)) }
    ///     print(report.summary)
    ///
    /// - Throws: ``VectorsError`` for a path that cannot be read at all.
    public static func files(_ paths: [String]) throws(VectorsError) -> [VectorFile] {
        try VectorFile.find(paths)
    }

    /// Runs one file. A file that holds no vectors is no error: it is skipped with its reason.
    public static func verify(_ file: VectorFile) -> FileReport {
        do {
            return run(try Reading.of(try file.bytes(), named: file.name), at: file.path)
        } catch {
            return FileReport(path: file.path, format: nil, skips: [Skip(reason: error.reason, count: 1)])
        }
    }

    /// The folder `vectors` nearest above the current directory, else above the program itself, as in a checkout whose
    /// `.build` holds it.
    public static func repositoryFolder() -> String? { VectorFile.repositoryFolder() }

    static func run(_ reading: Reading, at path: String) -> FileReport {
        var report = FileReport(path: path, format: reading.format, skips: reading.skips)
        for vector in reading.cases {
            switch vector.expectation.judge(vector.check.run()) {
            case .passed: report.passed += 1
            case .acceptable: report.acceptable += 1
            case .failed(let reason): report.failures.append(FileReport.Failure(id: vector.id, reason: reason))
            }
        }
        return report
    }
}

/// Why a run could not start.
public enum VectorsError: Error, Hashable, Sendable {
    /// There is nothing at this path, or it may not be read.
    case unreadable(path: String)
}
