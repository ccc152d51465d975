// The common part of the two JSON formats with results: every test has its own id, a result and flags.

/// The groups of a file, read into one ``ParsedVectors``.
struct JSONCases {
    private var reading: ParsedVectors
    private let idName: String
    private var ids: Set<Int> = []

    init(_ format: VectorFormat, idName: String) {
        reading = ParsedVectors(format)
        self.idName = idName
    }

    mutating func add(_ tests: [Fields], of group: VectorGroup, _ plan: GroupPlan?) throws(UnreadableFile) {
        var records: [VectorRecord] = []
        for test in tests {
            let id = try test.number(idName)
            guard ids.insert(id).inserted else { throw UnreadableFile("\(test.place): \(idName) \(id) a second time") }
            guard let expectation = Expectation(rawValue: try test.text("result")) else {
                throw test.wrong("result", "valid, invalid or acceptable")
            }
            let flags = test.has("flags") ? try test.texts("flags") : []
            records.append(VectorRecord(id: "\(id)", expectation: expectation, flags: flags, fields: test))
        }
        try reading.add(records, of: group, plan)
    }

    /// The cases. Throws unless there are as many as the file says: a file that was cut short proves nothing.
    func finish(announced: Int) throws(UnreadableFile) -> ParsedVectors {
        guard announced == ids.count else {
            throw UnreadableFile("numberOfTests says \(announced), the file holds \(ids.count)")
        }
        return reading
    }
}
