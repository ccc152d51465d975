// The reader of NIST's ACVP files: a prompt, whose tests have inputs, and the expected results, whose tests have the same ids
// and outputs. Lengths are in bits, and hex may have either case. The vector set's position and the test's tcId join the two.

internal import OMJSON

enum ACVPReader {
    private static let noResults = "ACVP without expected results: NAME.expected.json is not beside NAME.json"

    /// Whether a JSON document is ACVP: an array of vector sets, or one vector set.
    static func isACVP(_ document: JSON) -> Bool {
        switch document {
        case .array(let elements):
            elements.contains { if case .object(let members) = $0 { members["testGroups"] != nil } else { false } }
        case .object(let members):
            members["testGroups"] != nil
                && (members["vsId"] != nil || members["isSample"] != nil || members["revision"] != nil)
        default: false
        }
    }

    static func read(_ document: JSON, _ companions: CompanionFiles) throws(UnreadableFile) -> ParsedVectors {
        let sets = try vectorSets(document, "vector set")
        guard try hasPrompts(sets) else {
            guard companions.hasPrompt else {
                throw UnreadableFile("the expected results of an ACVP file, but the prompt is not beside them")
            }
            return ParsedVectors(companion: "the expected results of the ACVP prompt beside them", .acvp)
        }
        guard let bytes = try companions.expectedResults() else {
            return try isProjection(sets, companions)
                ? projections(sets, companions) : withoutResults(sets)
        }
        let results = try expectedSets(bytes)
        guard results.count == sets.count else {
            throw UnreadableFile("\(sets.count) vector sets, but expected results for \(results.count)")
        }
        var reading = ParsedVectors(.acvp)
        for (set, result) in zip(sets, results) { try add(set, result, companions, to: &reading) }
        return reading
    }

    /// The elements that hold tests. The first element of an array describes the session.
    private static func vectorSets(_ document: JSON, _ name: String) throws(UnreadableFile) -> [Fields] {
        guard case .array(let elements) = document else { return [try Fields(document, at: name)] }
        var sets: [Fields] = []
        for (index, element) in elements.enumerated() {
            let fields = try Fields(element, at: "\(name) \(index)")
            if index > 0 || fields.has("testGroups") { sets.append(fields) }
        }
        return sets
    }

    /// Whether the sets are prompts. Expected results do not name a test type.
    private static func hasPrompts(_ sets: [Fields]) throws(UnreadableFile) -> Bool {
        for set in sets where try set.objects("testGroups").contains(where: { $0.has("testType") }) { return true }
        return false
    }

    private static func expectedSets(_ bytes: [UInt8]) throws(UnreadableFile) -> [Fields] {
        do { return try vectorSets(try JSON(reading: bytes), "expected set") } catch {
            throw UnreadableFile("the expected results: \(error.reason)")
        }
    }

    /// Whether the file is NIST's `internalProjection.json`, which has inputs and results. Its name shows it, or members that
    /// no prompt has.
    private static func isProjection(_ sets: [Fields], _ companions: CompanionFiles) throws(UnreadableFile) -> Bool {
        if companions.isProjection { return true }
        for set in sets {
            for group in try set.objects("testGroups") {
                let tests = try group.objects("tests")
                if tests.contains(where: { $0.has("testPassed") || $0.has("resultsArray") || $0.has("deferred") }) {
                    return true
                }
            }
        }
        return false
    }

    private static func projections(_ sets: [Fields], _ companions: CompanionFiles) throws(UnreadableFile) -> ParsedVectors {
        var reading = ParsedVectors(.acvp)
        for set in sets {
            let prefix = set.has("vsId") ? "\(try set.number("vsId"))/" : ""
            var ids: Set<Int> = []
            for var group in try groups(of: set) {
                var records: [VectorRecord] = []
                for (id, record) in try tests(of: group.parameters, prefix) {
                    guard ids.insert(id).inserted else {
                        throw UnreadableFile("\(record.fields.place): tcId \(id) a second time")
                    }
                    let isValid = record.fields.has("testPassed") ? try record.fields.flag("testPassed") : true
                    records.append(
                        VectorRecord(id: record.id, expectation: isValid ? .valid : .invalid, fields: record.fields))
                }
                group = VectorGroup(
                    algorithm: group.algorithm, mode: group.mode, type: group.type, title: group.title,
                    parameters: group.parameters.without(["tests"]), companions: companions)
                if !records.isEmpty { try reading.add(records, of: group, try VectorKindList.acvp(group)) }
            }
        }
        return reading
    }

    private static func withoutResults(_ sets: [Fields]) throws(UnreadableFile) -> ParsedVectors {
        var reading = ParsedVectors(.acvp)
        for set in sets {
            for group in try groups(of: set) {
                try reading.add(tests(of: group.parameters, "").map(\.record), of: group, .skip(noResults))
            }
        }
        return reading
    }

    private static func groups(of set: Fields) throws(UnreadableFile) -> [VectorGroup] {
        let algorithm = try set.text("algorithm")
        let mode = set.has("mode") ? try set.text("mode") : nil
        let title = [algorithm, mode].compactMap { $0?.prefix(40) }.joined(separator: " ")
        var groups: [VectorGroup] = []
        for parameters in try set.objects("testGroups") {
            groups.append(
                VectorGroup(
                    algorithm: algorithm, mode: mode, type: try parameters.text("testType"), title: title,
                    parameters: parameters))
        }
        return groups
    }

    private static func tests(
        of group: Fields, _ prefix: String
    ) throws(UnreadableFile) -> [(id: Int, record: VectorRecord)] {
        var tests: [(Int, VectorRecord)] = []
        for test in try group.objects("tests") {
            let id = try test.number("tcId")
            tests.append((id, VectorRecord(id: "\(prefix)\(id)", fields: test)))
        }
        return tests
    }

    private static func add(
        _ set: Fields, _ expected: Fields, _ companions: CompanionFiles, to reading: inout ParsedVectors
    ) throws(UnreadableFile) {
        for name in ["algorithm", "vsId"] where set.has(name) && expected.has(name) {
            _ = try set.joinable(expected, name)
        }
        let prefix = set.has("vsId") ? "\(try set.number("vsId"))/" : ""
        var results: [Int: (fields: Fields, group: Fields)] = [:]
        for group in try expected.objects("testGroups") {
            for test in try tests(of: group, "") {
                guard results.updateValue((test.record.fields, group), forKey: test.id) == nil else {
                    throw UnreadableFile("\(test.record.fields.place): tcId \(test.id) a second time")
                }
            }
        }
        var ids: Set<Int> = []
        for var group in try groups(of: set) {
            var records: [VectorRecord] = []
            var orphans: [VectorRecord] = []
            var shared: Fields?
            for (id, record) in try tests(of: group.parameters, prefix) {
                guard ids.insert(id).inserted else {
                    throw UnreadableFile("\(record.fields.place): tcId \(id) a second time")
                }
                guard let result = results.removeValue(forKey: id) else {
                    orphans.append(record)
                    continue
                }
                if shared == nil { shared = result.group.without(["tests", "tgId"]) }
                let fields = try record.fields.joined(with: result.fields)
                let isValid = fields.has("testPassed") ? try fields.flag("testPassed") : true
                records.append(VectorRecord(id: record.id, expectation: isValid ? .valid : .invalid, fields: fields))
            }
            let parameters = group.parameters.without(["tests"])
            group = VectorGroup(
                algorithm: group.algorithm, mode: group.mode, type: group.type, title: group.title,
                parameters: try shared.map { (more) throws(UnreadableFile) in try parameters.joined(with: more) }
                    ?? parameters,
                companions: companions)
            if !records.isEmpty { try reading.add(records, of: group, try VectorKindList.acvp(group)) }
            try reading.add(orphans, of: group, .skip("ACVP without an expected result for this test"))
        }
        guard results.isEmpty else {
            throw UnreadableFile("\(expected.place): results for \(results.count) tests that the prompt has not")
        }
    }
}

extension Fields {
    /// Throws unless both have the same value for `name`.
    fileprivate func joinable(_ other: Fields, _ name: String) throws(UnreadableFile) -> Bool {
        let rest = other.names.subtracting([name])
        _ = try without(names.subtracting([name])).joined(with: other.without(rest))
        return true
    }
}
