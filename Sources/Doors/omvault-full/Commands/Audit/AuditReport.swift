// What an audit says. It never has a password or a hash.

internal import OMItems
internal import OMShell

struct AuditReport {
    private let findings: [AuditFinding]
    private let kinds: [AuditFinding.Kind]
    private let (passwords, skipped): (Int, Int)
    /// How many items could not be read.
    let unread: Int
    /// Where the list of breached passwords begins and ends, if it may be cut off.
    let listDoubt: String?

    /// - Parameters:
    ///   - kinds: What was looked for.
    ///   - bound: How many items are bound to another device, so that no unlock opens them here.
    init(_ reading: borrowing AuditReading, _ kinds: [AuditFinding.Kind], bound: Int) {
        (findings, self.kinds) = (reading.findings, kinds)
        (passwords, skipped, unread) = (reading.passwordCount, reading.skipped, reading.unread + bound)
        listDoubt = reading.listDoubt
    }

    func hasFinding(of kinds: [AuditFinding.Kind]) -> Bool { findings.contains { kinds.contains($0.kind) } }

    func show(_ context: CommandContext) throws(Failure) {
        let output = context.output
        try output.list(
            "findings", findings, columns: ["ITEM", "FIELD", "FINDING", "DETAIL"],
            head: [
                "passwords": .number(passwords), "skipped": .number(skipped), "unread": .number(unread),
                "list_doubted": .flag(listDoubt != nil),
                "looked_for": .list(kinds.map { .text($0.rawValue) }),
            ],
            row: { finding in
                [finding.item.text, finding.field?.text ?? "-", finding.kind.rawValue, finding.words(output.time)]
            },
            object: { finding, entry in finding.write(to: &entry) })
        guard !output.isOneDocument else { return }
        for words in summary { output.notice(words) }
    }

    private var summary: [String] {
        let counts = kinds.compactMap { kind in
            let count = findings.count { $0.kind == kind }
            return count > 0 ? "\(count) \(kind.rawValue)" : nil
        }
        var lines = [
            "\(passwords.of("password")) checked: "
                + (counts.isEmpty ? "nothing to change" : counts.joined(separator: ", "))
        ]
        if skipped > 0 {
            lines.append(
                "\(skipped.of("value")) skipped: not text, or longer than \(AuditReading.longestPassword) bytes")
        }
        if unread > 0 {
            lines.append(
                "warning: \(unread.of("item")) of this vault could not be read and \(unread == 1 ? "was" : "were") not checked")
        }
        if let listDoubt { lines.append("warning: the list may be cut off: it \(listDoubt)") }
        return lines
    }
}
