internal import ArgumentParser
internal import OMItems
internal import OMShell
internal import OMVault

/// `omvault verify`: checks a vault and names every problem.
struct VerifyCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a vault and name everything that is wrong.",
        discussion: """
            Checks permissions, header, slots, the marks of this device and the list of items. --deep also opens every version of
            every item, and says which versions of a damaged item are whole. Changes nothing. Exits with 42 if something is wrong.

              omvault verify
              omvault verify --deep
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Flag(help: "Open every version of every item.")
    var deep = false

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        var (report, problems) = (VaultReport(), [Problem]())
        do throws(Failure) {
            let vault = try access.open(secrets, unlock)
            report = try access.run { () throws(VaultError) in try vault.verify(deep: deep) }
        } catch {
            // An error that keeps the vault closed is a problem to report. A wrong password is not.
            guard [.corrupt, .rollback, .permission].contains(error.status) else { throw error }
            problems.append(Problem(error))
        }
        problems += report.findings.map { Problem($0, vault: access.location.name) }
        if report.strays > 0 { problems.append(Problem(strays: report.strays)) }
        try show(problems, of: report, vault: access.location.name, context: context)
        if report.isPurgePending { context.output.pendingPurge(of: access.location.name) }
        if report.isFileReplaced { context.output.replacedFile(of: access.location.name) }
        if !problems.isEmpty { throw AlreadyReported(status: .doctorFindings) }
    }

    /// What was checked, and is whole.
    private func wholeWords(_ report: VaultReport) -> String {
        guard deep else {
            return ": its header, slots, marks and list of items are whole; --deep opens every version of every item too"
        }
        let items = "\(report.items.of("item")), \(report.trashed) in the trash"
        return " is whole: \(items), \(report.versions.of("version")), all whole"
    }

    /// What is whole beside the problems.
    private func otherWords(_ report: VaultReport) -> String {
        guard report.versions > 0 else { return "" }
        let (items, versions) = ((report.items + report.trashed).of("item"), report.versions.of("version"))
        // An item whose older versions are damaged is counted, but it is not whole.
        return report.findings.contains { $0.revision != nil }
            ? "; \(versions) of \(items) can be read" : "; the other \(items) and \(versions) are whole"
    }

    private func show(
        _ problems: [Problem], of report: VaultReport, vault: String, context: CommandContext
    ) throws(Failure) {
        guard context.output.format == .json else {
            if !problems.isEmpty {
                try context.output.rows(
                    problems.map(\.row), header: ["LEVEL", "ITEM", "REVISION", "PROBLEM", "READABLE"])
            }
            return context.output.notice(
                "vault \"\(vault.shown)\""
                    + (problems.isEmpty ? wholeWords(report) : " has \(problems.count.of("problem"))\(otherWords(report))"))
        }
        var document = JSONDocument()
        document.field("vault", .text(vault))
        document.field("deep", .flag(deep))
        document.field("whole", .flag(problems.isEmpty))
        document.field("purge_pending", .flag(report.isPurgePending))
        document.field("file_replaced", .flag(report.isFileReplaced))
        if deep {
            document.field("items", .number(report.items))
            document.field("trashed", .number(report.trashed))
            document.field("tombstones", .number(report.tombstones))
            document.field("versions", .number(report.versions))
        }
        document.objects("problems", problems) { problem, entry in
            entry.field("problem", .text(problem.words))
            entry.field("level", problem.level.map { .text($0) } ?? .null)
            entry.field("item", problem.item.map { .text($0) } ?? .null)
            entry.field("entry", problem.entryPath.map { .text($0) } ?? .null)
            entry.field("revision", problem.revision.map { .number(Int(clamping: $0)) } ?? .null)
            entry.field("readable", .list(problem.readable.map { .number(Int(clamping: $0)) }))
        }
        try context.output.document(document)
    }
}

/// One problem, as it is printed.
private struct Problem {
    let words: String
    var (level, item, entryPath): (String?, String?, String?)
    var revision: UInt64?
    var readable: [UInt64] = []

    init(_ failure: Failure) { words = failure.message }

    init(strays: Int) {
        words = strays == 1 ? "1 record or chunk belongs to no item" : "\(strays) records or chunks belong to no item"
    }

    init(_ finding: VaultReport.Finding, vault: String) {
        words =
            switch finding.error {
            case .corrupt(.record) where finding.isOfChunk: "a chunk of a value is damaged or missing"
            case .corrupt(.record) where finding.revision != nil: "the history is damaged from this revision back"
            case .corrupt(.record): "the record is damaged, or was replaced by another"
            case .corrupt(.tree): "the list of items is damaged here; the entries below it are not proven"
            case .corrupt(.level): "the state of the level is damaged"
            case .rolledBack(.level): "the level is not the last state seen on this device"
            default: Failure(finding.error, vault: vault).message
            }
        level = finding.level.map(\.words)
        item = finding.item?.text
        entryPath = finding.entryPath.map { $0.map { String($0, radix: 16) }.joined() }
        (revision, readable) = (finding.revision, finding.readable)
    }

    /// The item's name. It includes the entry if there is no name, or if 'rm --purge --id' needs the entry.
    private var shownItem: String {
        guard let entryPath, item == nil || revision == nil else { return item ?? "-" }
        return item.map { "\($0) (entry \(entryPath))" } ?? "entry \(entryPath)"
    }

    var row: [String] {
        [
            level ?? "-", shownItem, revision.map { "\($0)" } ?? "-", words,
            readable.isEmpty ? "-" : readable.map { "\($0)" }.joined(separator: ","),
        ]
    }
}
