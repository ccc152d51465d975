// What the two JSON formats share: every test has an id of its own, a result, and a group that says what to compute.

/// The groups of a file, read into one ``Reading``.
struct JSONCases {
    private(set) var reading: Reading
    private let idName: String
    private var ids: Set<Int> = []

    init(_ format: VectorFormat, idName: String) {
        reading = Reading(format: format)
        self.idName = idName
    }

    mutating func add(_ tests: [Fields], _ plan: GroupPlan) throws(Unreadable) {
        for test in tests {
            let id = try test.number(idName)
            guard ids.insert(id).inserted else { throw Unreadable("\(test.place): \(idName) \(id) a second time") }
            guard let expectation = Expectation(rawValue: try test.text("result")) else {
                throw test.wrong("result", "valid, invalid or acceptable")
            }
            switch plan {
            case .skip(let reason): reading.skip(1, reason)
            case .each(let make):
                switch try make(test, expectation) {
                case .run(let check):
                    reading.cases.append(VectorCase(id: "\(id)", expectation: expectation, check: check))
                case .skip(let reason): reading.skip(1, reason)
                }
            }
        }
    }

    /// The cases, when there are as many as the file says: one that was cut short proves nothing.
    func finish(announced: Int) throws(Unreadable) -> Reading {
        guard announced == ids.count else {
            throw Unreadable("numberOfTests says \(announced), the file holds \(ids.count)")
        }
        return reading
    }
}
