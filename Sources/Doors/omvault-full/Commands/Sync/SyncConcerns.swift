// What sync leaves to the user, and the devices of which nothing is heard, in words.

internal import OMAgent
internal import OMParcels
internal import OMShell
internal import OMSync

/// What a user should know of the sync of a vault, beside the states of its remotes.
struct SyncConcerns {
    /// A device, and since when nothing of it is heard.
    struct Absence {
        let device: UInt32
        let name: String
        /// In seconds since 1970.
        let since: Int64

        fileprivate func write(to entry: inout JSONDocument) {
            entry.field("device", .text(name))
            entry.field("number", .text(SyncStatus.digits(device)))
            entry.field("since", .text(Timestamp.text(since)))
        }
    }

    /// The number of open questions, and of those about conflict copies and changed names.
    let (questions, copies, names): (Int, Int, Int)
    /// The devices for whose edits versions wait, and the time of the oldest such version.
    let awaited: [Absence]
    /// The other devices of which no news came for a week.
    let silent: [Absence]
    private let now: Int64

    init(_ list: QuestionList, _ status: SyncStatus, now: Int64) {
        self.init((list.questions.count, list.copies, list.meanings), list.awaited, status, now: now)
    }

    init(_ facts: SyncSummary?, _ status: SyncStatus, now: Int64) {
        let awaited = (facts?.awaited ?? []).map { ($0.device, $0.since) }
        self.init(
            (Int(facts?.questions ?? 0), Int(facts?.copies ?? 0), Int(facts?.names ?? 0)),
            Dictionary(awaited, uniquingKeysWith: min), status, now: now)
    }

    private init(
        _ counts: (questions: Int, copies: Int, names: Int), _ awaited: [UInt32: Int64], _ status: SyncStatus, now: Int64
    ) {
        ((questions, copies, names), self.now) = (counts, now)
        self.awaited = awaited.sorted { $0.key < $1.key }.map { device, since in
            Absence(device: device, name: status.name(of: device), since: since)
        }
        silent = status.silent(at: now).map { Absence(device: $0.number, name: status.name(of: $0.number), since: $0.since) }
    }

    /// A line for each device for whose edits versions wait.
    func awaitedLines(_ output: Output) -> [String] {
        awaited.map { absence in
            let name = absence.name.shown
            guard now - absence.since >= SyncStatus.week else {
                return "versions wait for edits of \"\(name)\", which come with its files"
            }
            return "versions have waited for edits of \"\(name)\" since \(output.time(absence.since)): its files do not arrive,"
                + " or another device claims edits that \"\(name)\" never made"
        }
    }

    /// A line for each device of which no news came for a week.
    func silentLines() -> [String] {
        silent.map { absence in
            let days = Int((now - absence.since) / 86_400)
            return "no news of \"\(absence.name.shown)\" for \(days.of("day")): it is not in use, or its files do not arrive"
        }
    }

    /// Conflict copies and changed names stay until the user settles them.
    func tell(_ context: CommandContext) {
        for line in awaitedLines(context.output) { context.output.notice(line) }
        let words = [
            copies > 0 ? (copies == 1 ? "1 conflict copy" : "\(copies) conflict copies") : nil,
            names > 0 ? "\(names.of("name")) that \(names == 1 ? "means" : "mean") another item than before" : nil,
        ].compactMap(\.self)
        if !words.isEmpty { context.output.notice("\(words.joined(separator: ", ")): omvault sync diff shows what to settle") }
    }

    func write(to document: inout JSONDocument) {
        document.field("to_settle", .number(questions))
        document.objects("awaited", awaited) { $0.write(to: &$1) }
        document.objects("silent", silent) { $0.write(to: &$1) }
    }
}
