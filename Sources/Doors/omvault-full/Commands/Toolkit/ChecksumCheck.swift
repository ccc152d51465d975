// `omvault crypto hash --check`: compares files with the hashes in lists, as sha256sum -c does.

internal import Glibc
internal import OMCrypto
internal import OMSecrets
internal import OMShell

struct ChecksumCheck {
    enum Result: String { case ok, failed, missing, unreadable }

    let context: CommandContext
    /// The algorithm of lines that name none.
    let algorithm: DigestAlgorithm
    let ignoresMissing: Bool
    /// Whether a line that is no hash with a name is an error.
    let isStrict: Bool
    private var checked: [(name: String, result: Result)] = []
    private var otherLines = 0

    init(_ context: CommandContext, _ algorithm: DigestAlgorithm, ignoresMissing: Bool, isStrict: Bool) {
        (self.context, self.algorithm) = (context, algorithm)
        (self.ignoresMissing, self.isStrict) = (ignoresMissing, isStrict)
    }

    mutating func run(_ lists: [String]) throws {
        for list in lists {
            var lines: [ChecksumLine] = []
            try FilePieces.readLines(list) { block in
                block.forEachLine { line in
                    if let found = ChecksumLine(line, algorithm) {
                        lines.append(found)
                    } else {
                        otherLines += line.isEmpty ? 0 : 1
                    }
                }
            }
            for line in lines { try add(line) }
        }
        try finish()
    }

    private mutating func add(_ line: ChecksumLine) throws {
        let result = try Self.result(line)
        if result == .missing, ignoresMissing { return }
        checked.append((line.name, result))
        guard context.output.format != .json, result != .ok || !context.output.isQuiet else { return }
        try context.output.line("\(line.name.shown): \(result.words)")
    }

    private static func result(_ line: ChecksumLine) throws -> Result {
        var digest = try Digest(line.algorithm)
        do { try FilePieces.read(line.name) { digest.update($0) } } catch let failure as Failure where failure.status == .io {
            var status = stat()
            return lstat(line.name, &status) != 0 && errno == ENOENT ? .missing : .unreadable
        }
        return digest.finish() == line.digest ? .ok : .failed
    }

    private func count(_ result: Result) -> Int { checked.count { $0.result == result } }

    private func finish() throws {
        if context.output.format == .json {
            var document = JSONDocument()
            document.field("ok", .number(count(.ok)))
            document.field("failed", .number(count(.failed)))
            document.field("missing", .number(count(.missing)))
            document.field("unreadable", .number(count(.unreadable)))
            document.field("other_lines", .number(otherLines))
            document.objects("files", checked) { file, entry in
                entry.field("file", .text(file.name))
                entry.field("result", .text(file.result.rawValue))
            }
            try context.output.document(document)
            if let problem { throw AlreadyReported(status: problem.status) }
            return
        }
        if otherLines > 0, !isStrict, !checked.isEmpty { context.output.notice("warning: \(otherWords)") }
        if let problem { throw problem }
    }

    private var otherWords: String { "\(otherLines.of("line")) \(otherLines == 1 ? "is" : "are") no hash with a file's name" }

    /// What the exit code tells: the most serious of what was found.
    private var problem: Failure? {
        let files = checked.count.of("file")
        if count(.failed) > 0 {
            return Failure(
                .badSecret,
                "\(count(.failed)) of \(files) \(count(.failed) == 1 ? "has" : "have") another hash than the list says",
                hint: "take another copy of it, and of the list")
        }
        let unread = count(.missing) + count(.unreadable)
        if unread > 0 {
            return Failure(
                .io, "\(unread) of \(files) cannot be read",
                hint: count(.missing) > 0
                    ? "--ignore-missing leaves out files that are not there" : "look at the files' permissions")
        }
        if isStrict, otherLines > 0 { return Failure(.corrupt, otherWords, hint: "leave out --strict to check the others") }
        guard checked.isEmpty else { return nil }
        return otherLines > 0
            ? Failure(.corrupt, otherWords, hint: "for hashes of another algorithm than \(algorithm.name), give --alg")
            : Failure(.notFound, "no file was checked", hint: "each line needs a hash, two blanks and a file's name")
    }
}

extension ChecksumCheck.Result {
    /// As sha256sum has it.
    fileprivate var words: String {
        switch self {
        case .ok: "OK"
        case .failed: "FAILED"
        case .missing, .unreadable: "FAILED open or read"
        }
    }
}
