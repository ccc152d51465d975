internal import ArgumentParser
internal import OMVectors

struct VectorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vectors",
        abstract: "Check the cryptography against published test vectors.",
        subcommands: [VectorsVerify.self])
}

/// `omvault vectors verify`: the verb that proves the toolkit on the user's own machine.
struct VectorsVerify: Verb {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Run vector files and report what passed.",
        discussion: """
            Reads NIST CAVP (.rsp), Wycheproof and omvault-vectors/1 files, and every such file in a folder.
            Exits with 40 when a case failed or none was run.

              omvault vectors verify
              omvault vectors verify SHA256Monte.rsp aes_cbc_pkcs5_test.json
              omvault vectors verify --fail-on-skip --json vectors
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Files or folders. Without one: the repository's vectors folder.")
    var paths: [String] = []

    @Flag(help: "Fail when a case or a file was skipped, too.")
    var failOnSkip = false

    func run(_ door: Door) throws {
        let isJSON = door.output.format == .json
        let progress = Progress(isShown: StandardError.isTerminal && !StandardOutput.isTerminal && !global.quiet)
        var report = Report()
        for file in try VectorRunner.files(try paths.isEmpty ? [defaultFolder()] : paths) {
            progress.show(file.path)
            let result = VectorRunner.verify(file)
            report.add(result)
            if !isJSON { try door.output.line(line(result)) }
        }
        progress.clear()
        if isJSON { try door.output.document(document(report)) } else { try door.output.line(report.summary) }
        guard report.isProof(failOnSkip: failOnSkip) else { throw Answered(status: .vectors) }
    }

    private func defaultFolder() throws(Failure) -> String {
        guard let folder = VectorRunner.repositoryFolder() else {
            throw Failure(
                .usage, "there is no vectors folder above the current directory or above omvault itself",
                hint: "omvault vectors verify PATH")
        }
        return folder
    }

    /// One line a file, with the first few reasons; `--json` lists all of them.
    private func line(_ file: FileReport) -> String {
        let failures = file.failures.prefix(4).map { "\($0.id): \($0.reason)" }
        let more = file.failures.count > 4 ? ["and \(file.failures.count - 4) more"] : []
        let skips = file.skips.map { $0.count == 1 ? $0.reason : "\($0.reason) (\($0.count))" }
        let reasons = [("failed", failures + more), ("skipped", skips)].filter { !$0.1.isEmpty }
        return (["\(file.path): \(file.summary)"] + reasons.map { "\($0.0): \($0.1.joined(separator: ", "))" })
            .joined(separator: "; ")
    }

    private func document(_ report: Report) -> JSONDocument {
        var document = JSONDocument()
        document.objects("files", report.files) { file, entry in
            entry.field("path", .text(file.path))
            entry.field("format", file.format.map { .text($0.rawValue) } ?? .null)
            entry.field("passed", .number(file.passed))
            entry.field("failed", .number(file.failures.count))
            entry.field("acceptable", .number(file.acceptable))
            entry.field("skipped", .number(file.skipped))
            entry.objects("failures", file.failures) { failure, entry in
                entry.field("id", .text(failure.id))
                entry.field("reason", .text(failure.reason))
            }
            entry.objects("skips", file.skips) { skip, entry in
                entry.field("reason", .text(skip.reason))
                entry.field("count", .number(skip.count))
            }
        }
        document.field("passed", .number(report.passed))
        document.field("failed", .number(report.failed))
        document.field("acceptable", .number(report.acceptable))
        document.field("skipped", .number(report.skipped))
        return document
    }
}

/// The file just done, on one line that is overwritten.
private struct Progress {
    let isShown: Bool

    func show(_ path: String) { write(path.shown) }
    func clear() { write("") }

    private func write(_ text: String) {
        if isShown { StandardError.write("\r\u{1B}[K\(text)") }
    }
}
