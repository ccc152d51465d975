internal import ArgumentParser
internal import OMShell
internal import OMVectors

struct VectorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vectors",
        abstract: "Test the cryptography against published vectors.",
        subcommands: [VectorsVerify.self, VectorsList.self])

    /// The files of `paths`. Without paths, the repository's files, and without a repository the built-in files.
    static func files(_ paths: [String], _ context: CommandContext) throws -> [VectorFile] {
        guard paths.isEmpty else { return try VectorRunner.files(paths) }
        if let folder = VectorRunner.repositoryFolder() { return try VectorRunner.files([folder]) }
        let files = CoreVectors.files
        context.output.notice(
            "there is no folder \"vectors\" here: these are the \(files.count) files that are built into omvault")
        return files
    }
}

/// `omvault vectors verify`: tests the toolkit on the user's machine.
struct VectorsVerify: Verb {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Run vector files and report what passed.",
        discussion: """
            Reads files of NIST CAVP (.rsp) and ACVP, Wycheproof, RFC text, RSA Labs and omvault-vectors/1, and every such file in a
            folder. Exits with 40 if a case failed or none was run.

              omvault vectors verify
              omvault vectors verify SHA256Monte.rsp aes_cbc_pkcs5_test.json
              omvault vectors verify --fail-on-skip --json vectors
              omvault vectors verify --policy my-policy.json wycheproof/
              omvault vectors verify --control vectors
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(
        help: "Files or folders. Without one: the repository's vectors folder, else the files that are built into omvault.",
        completion: .file())
    var paths: [String] = []

    @Option(help: ArgumentHelp("What is expected of “acceptable” cases, flag by flag.", valueName: "file"), completion: .file())
    var policy: String?

    @Flag(help: "Fail also if a case or a file was skipped.")
    var failOnSkip = false

    @Flag(help: "Change one bit of each valid case, and fail unless each change is noticed.")
    var control = false

    func validate() throws {
        guard !control || (policy == nil && !failOnSkip) else {
            throw ValidationError("--control works without --policy and --fail-on-skip")
        }
    }

    func run(_ context: CommandContext) throws {
        let policy = try policy.map { try VectorRunner.policy(at: $0) } ?? .standard
        let files = try VectorsCommand.files(paths, context)
        let progress = FileProgress(of: files.count, isQuiet: global.quiet)
        try control ? runControl(files, context, progress) : verify(files, policy: policy, progress: progress, context: context)
    }

    private func verify(_ files: [VectorFile], policy: AcceptancePolicy, progress: FileProgress, context: CommandContext) throws {
        let isJSON = context.output.format == .json
        var report = RunReport()
        for (index, file) in files.enumerated() {
            progress.show(file.path, number: index + 1)
            let result = VectorRunner.verify(file, policy: policy)
            report.add(result)
            progress.clear()
            if !isJSON { try context.output.line(Self.line(result)) }
        }
        if isJSON { try context.output.document(report.document) } else { try context.output.line(report.summary) }
        guard report.isProof(failOnSkip: failOnSkip) else { throw AlreadyReported(status: .vectors) }
    }

    private func runControl(_ files: [VectorFile], _ context: CommandContext, _ progress: FileProgress) throws {
        let isJSON = context.output.format == .json
        var reports: [ControlReport] = []
        for (index, file) in files.enumerated() {
            progress.show(file.path, number: index + 1)
            let result = VectorRunner.control(file)
            reports.append(result)
            progress.clear()
            if !isJSON { try context.output.line(Self.line(result)) }
        }
        let (caught, missed) = (reports.reduce(0) { $0 + $1.caught }, reports.reduce(0) { $0 + $1.misses.count })
        if isJSON {
            try context.output.document(Self.document(reports, caught: caught, missed: missed))
        } else {
            try context.output.line("\(caught) caught, \(missed) missed")
        }
        guard missed == 0, caught > 0 else { throw AlreadyReported(status: .vectors) }
    }
}

// MARK: - For people

extension VectorsVerify {
    /// One line for each file, with the first few reasons. `--json` lists all of them.
    private static func line(_ file: FileReport) -> String {
        if let note = file.note { return "\(file.path): \(note)" }
        let acceptances = file.acceptances.map { acceptance in
            let counts = [(acceptance.accepted, "accepted"), (acceptance.refused, "refused")].filter { $0.0 > 0 }
            let flags = acceptance.flags.isEmpty ? "without a flag" : acceptance.flags
            return "\(flags) \(counts.map { "\($0.1) (\($0.0))" }.joined(separator: " and "))"
        }
        let skips = file.skips.map { $0.count == 1 ? $0.reason : "\($0.reason) (\($0.count))" }
        let reasons = [("failed", first(file.failures)), ("acceptable", acceptances), ("skipped", skips)]
        return
            (["\(file.path): \(file.summary)"]
            + reasons.filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: ", "))" })
            .joined(separator: "; ")
    }

    private static func line(_ file: ControlReport) -> String {
        let misses = file.misses.isEmpty ? "" : "; missed: \(first(file.misses).joined(separator: ", "))"
        return "\(file.path): \(file.summary)\(misses)"
    }

    private static func first(_ failures: [FileReport.FailedCase]) -> [String] {
        let more = failures.count > 4 ? ["and \(failures.count - 4) more"] : []
        return failures.prefix(4).map { "\($0.id): \($0.reason)" } + more
    }
}

// MARK: - For programs

extension RunReport {
    fileprivate var document: JSONDocument {
        var document = JSONDocument()
        document.objects("files", files) { file, entry in
            entry.field("path", .text(file.path))
            entry.field("format", file.format.map { .text($0.rawValue) } ?? .null)
            entry.field("passed", .number(file.passed))
            entry.field("failed", .number(file.failures.count))
            entry.field("acceptable", .number(file.acceptable))
            entry.field("skipped", .number(file.skipped))
            entry.field("note", file.note.map { .text($0) } ?? .null)
            entry.failures("failures", file.failures)
            entry.objects("judged", file.acceptances) { acceptance, entry in
                entry.field("flags", .text(acceptance.flags))
                entry.field("accepted", .number(acceptance.accepted))
                entry.field("refused", .number(acceptance.refused))
            }
            entry.counts("skips", file.skips)
        }
        document.field("passed", .number(passed))
        document.field("failed", .number(failed))
        document.field("acceptable", .number(acceptable))
        document.field("skipped", .number(skipped))
        document.counts("skips", skips)
        document.counts("notes", notes)
        return document
    }
}

extension VectorsVerify {
    private static func document(_ reports: [ControlReport], caught: Int, missed: Int) -> JSONDocument {
        var document = JSONDocument()
        document.objects("files", reports) { file, entry in
            entry.field("path", .text(file.path))
            entry.field("caught", .number(file.caught))
            entry.field("missed", .number(file.misses.count))
            entry.failures("misses", file.misses)
        }
        document.field("caught", .number(caught))
        document.field("missed", .number(missed))
        return document
    }
}

extension JSONDocument {
    fileprivate mutating func failures(_ name: String, _ failures: [FileReport.FailedCase]) {
        objects(name, failures) { failure, entry in
            entry.field("id", .text(failure.id))
            entry.field("reason", .text(failure.reason))
        }
    }

    mutating func counts(_ name: String, _ skips: [SkippedCases]) {
        objects(name, skips) { skip, entry in
            entry.field("reason", .text(skip.reason))
            entry.field("count", .number(skip.count))
        }
    }
}
