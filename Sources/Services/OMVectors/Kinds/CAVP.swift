/// A rule that CAVP's records share.
enum CAVP {
    /// Requires that `COUNT` of a chain is 0, 1, 2 …: a missing number would hide a step.
    static func requireCounts(_ records: [Fields], exactly count: Int) throws(UnreadableFile) {
        for (index, record) in records.enumerated() {
            guard try record.number("COUNT") == index else { throw record.wrong("COUNT", "\(index)") }
        }
        guard records.count == count else {
            throw UnreadableFile("\(records.last?.place ?? "the file"): a chain of \(records.count) steps, not \(count)")
        }
    }
}
