internal import ArgumentParser
internal import OMShell
internal import OMVectors

/// `omvault vectors list`: the algorithms that files cover, without running them.
struct VectorsList: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show which algorithms and cases vector files have.",
        discussion: """
            Prints one row for each algorithm, under the name that the files use: how many files, how many valid, invalid and
            acceptable cases, and whether they are run or why not. The last rows count the files without cases.

              omvault vectors list vectors
              omvault vectors list --json wycheproof/ acvp/
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(
        help: "Files or folders. Without one: the repository's vectors folder, else the files that are built into omvault.",
        completion: .file())
    var paths: [String] = []

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let files = try VectorsCommand.files(paths, context)
        let progress = FileProgress(of: files.count, isQuiet: global.quiet)
        var list = CoverageList()
        for (index, file) in files.enumerated() {
            progress.show(file.path, number: index + 1)
            list.add(file)
        }
        progress.clear()
        if context.output.format == .json { return try context.output.document(document(list)) }
        try context.output.rows(
            rows(list), header: ["ALGORITHM", "FILES", "VALID", "INVALID", "ACCEPTABLE", "RUN"])
    }

    private func rows(_ list: CoverageList) -> [[String]] {
        let algorithms = list.algorithms.map { algorithm in
            [
                algorithm.algorithm, "\(algorithm.files.count)", "\(algorithm.valid)", "\(algorithm.invalid)",
                "\(algorithm.acceptable)", run(algorithm),
            ]
        }
        let reasons = Dictionary(grouping: list.others, by: \.reason).sorted { $0.key < $1.key }
        return algorithms + reasons.map { ["-", "\($0.value.count)", "0", "0", "0", "no: \($0.key)"] }
    }

    private func run(_ algorithm: Coverage) -> String {
        let reasons = algorithm.skips.map { $0.count == algorithm.cases ? $0.reason : "\($0.reason) (\($0.count))" }
        guard algorithm.isSupported else { return "no: \(reasons.joined(separator: ", "))" }
        return reasons.isEmpty ? "yes" : "yes, without: \(reasons.joined(separator: ", "))"
    }

    private func document(_ list: CoverageList) -> JSONDocument {
        var document = JSONDocument()
        document.objects("algorithms", list.algorithms) { algorithm, entry in
            entry.field("algorithm", .text(algorithm.algorithm))
            entry.field("supported", .flag(algorithm.isSupported))
            entry.field("valid", .number(algorithm.valid))
            entry.field("invalid", .number(algorithm.invalid))
            entry.field("acceptable", .number(algorithm.acceptable))
            entry.field("files", .list(algorithm.files.map { .text($0) }))
            entry.counts("skips", algorithm.skips)
        }
        document.objects("others", list.others) { other, entry in
            entry.field("path", .text(other.path))
            entry.field("reason", .text(other.reason))
        }
        return document
    }
}
