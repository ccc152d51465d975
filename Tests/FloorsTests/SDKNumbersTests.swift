// Tests that compare docs/reference/sdk-numbers.md with the code that gives the numbers.

import Foundation
import Testing

@Suite("The SDK's error numbers") struct SDKNumbersTests {
    /// The SDK's own list, without the parts that this package does not have.
    private static let listed: [Int] =
        [129, 10000, 10001, 10003, 10005, 10011, 10015, 10021, 10023, 10025, 10029, 10030] + Array(10017...10020)
        + Array(10034...10040) + Array(10042...10045) + Array(10100...10119)
        + [10403, 10404, 10406, 10407, 10408, 10418, 10422, 10427] + Array(10501...10534) + [20001, 30001, 30004, 40200, 40211]
        + Array(40213...40215) + [40220] + Array(40230...40246) + [50001, 50002, 60007, 60008, 70016]

    @Test("the page has every number of the SDK's list once, with the code that has it or the reason why none has it")
    func page() throws {
        let given = try numbers()
        var rows: [Int: (names: [String], remark: String)] = [:], last = 0
        let page = try Self.text("docs/reference/sdk-numbers.md")
        for line in page.split(separator: "\n") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count == 6 else { continue }
            let names = cells[3].matches(of: /`([^`]+)`/).map { String($0.1) }
            if let number = Int(cells[1]) {
                #expect(rows.updateValue((names, cells[4]), forKey: number) == nil, "\(number) is there twice")
                last = number
            } else if cells[1].isEmpty {
                // The row continues the one above.
                rows[last]?.names += names
            }
        }
        for (number, row) in rows {
            #expect(row.names.sorted() == given[number, default: []].sorted(), "\(number)")
            #expect(
                !row.names.isEmpty || row.remark.hasPrefix("does not occur: ") || row.remark.hasPrefix("later: ")
                    || number == 10000,
                "\(number)")
        }
        #expect(rows.keys.sorted() == Self.listed.sorted())
        #expect(given.count > 90, "the numbers were not found")
        #expect(Set(given.keys).isSubset(of: rows.keys))
    }

    // MARK: - The code

    /// The names for each number: cases, profile keys, and files that give a number themselves.
    private func numbers() throws -> [Int: Set<String>] {
        var found: [Int: Set<String>] = [:]
        let property = /var (?:sdkCode: Int\??|entry: \([^)\n]*sdkCode: Int\?\)) \{\n(.*?)\n    \}\n/.dotMatchesNewlines()
        let named = /case ((?:[^:\n]|,\n)+?):\s+(?:\([^()\n]+, )?(\d{5}|129)\b/
        let type = /\n(?:public |@nonexhaustive\n|indirect )*(?:enum|struct|extension) (\w+)/
        for (path, text) in try Self.sources() {
            for body in text.matches(of: property) {
                guard let owner = text[..<body.range.lowerBound].matches(of: type).last?.1 else { throw Missing() }
                for label in body.1.matches(of: named) {
                    let names = label.1.matches(of: /\.(\w+(?:\(\.\w+(?:\(\.\w+\))?\))?)/)
                    for name in names { found[Int(label.2) ?? 0, default: []].insert("\(owner).\(name.1)") }
                }
            }
            let file = path.split(separator: "/").last?.dropLast(".swift".count) ?? ""
            for number in text.matches(of: /(?:sdkCode: |requiring\(|\? )(\d{5})\b/) {
                found[Int(number.1) ?? 0, default: []].insert(String(file))
            }
        }
        let spelled = Dictionary(
            uniqueKeysWithValues: try Self.text("Sources/Services/OMAuth/Profiles/ProfileKey.swift")
                .matches(of: /case (\w+) = "([^"]+)"/).map { (String($0.1), String($0.2)) })
        for rule in try Self.text("Sources/Services/OMAuth/Profiles/ProfileValueType.swift").matches(
            of: /case ([^:]+): \(.*, (\d{5}), \./)
        {
            for name in rule.1.matches(of: /\.(\w+)/) {
                found[Int(rule.2) ?? 0, default: []].insert(try #require(spelled[String(name.1)]))
            }
        }
        return found
    }

    private struct Missing: Error {}

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: repository.appending(path: path), encoding: .utf8)
    }

    private static func sources() throws -> [(path: String, text: String)] {
        let folder = repository.appending(path: "Sources")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        return try files.filter { $0.pathExtension == "swift" }.map { ($0.path, try String(contentsOf: $0, encoding: .utf8)) }
    }
}
