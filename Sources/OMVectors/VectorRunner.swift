/// Runs vector files: finds them, reads them, judges their cases.
public enum VectorRunner {
    /// Runs every file of `paths`, folders with all that is in them, in the order given and sorted within a folder.
    ///
    ///     let report = try VectorRunner.verify(["vectors"])
    ///     print(report.summary)
    ///
    /// - Parameter finished: Called after each file.
    /// - Throws: ``VectorsError`` for a path that cannot be read at all, before any case is run. A file that holds no
    ///   vectors is no error: it is skipped with its reason.
    public static func verify(
        _ paths: [String], finished: (FileReport) -> Void = { _ in }
    ) throws(VectorsError) -> Report {
        let files = try VectorFiles.find(paths)
        var report = Report()
        for file in files {
            let result = run(file)
            report.files.append(result)
            finished(result)
        }
        return report
    }

    private static func run(_ file: VectorFiles.Found) -> FileReport {
        do {
            return run(try Reading.of(try file.bytes(), named: file.name), at: file.path)
        } catch {
            return FileReport(path: file.path, format: nil, skips: [Skip(reason: error.reason, count: 1)])
        }
    }

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
