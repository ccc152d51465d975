// Tests of the references in the sources' comments.

import Foundation
import Testing

@Suite("References in comments") struct ReferencesTests {
    @Test("every ``reference`` in a comment names an existing type or member")
    func references() throws {
        let sources = try Self.sources()
        let names = sources.reduce(into: Names()) { $0.add($1.text) }
        var checked = 0
        for (path, text) in sources {
            for reference in Self.references(in: text) {
                #expect(names.has(reference), "\(path): ``\(reference)``")
                checked += 1
            }
        }
        #expect(checked > 500, "the comments were not found")
    }

    @Test("the check finds a missing type and a missing member, and no others")
    func selfCheck() {
        var names = Names()
        names.add(
            """
            struct Box {
                let (left, right): (Int, Int)
                func open(_ key: Key) {}
                enum Lid { case shut, bent(by: Int) }
            }
            // struct Gone { func vanish() {} }
            """)
        let found = Self.references(
            in: """
                /// ``Box/open(_:)`` and ``Box/Lid/bent(by:)``, ``left``
                let code = "``Nothing``"
                // ``Box/vanish()``
                    /// ``Gone``
                """)
        #expect(found == ["Box/open(_:)", "Box/Lid/bent(by:)", "left", "Box/vanish()", "Gone"])
        #expect(found.map(names.has) == [true, true, true, false, false])
    }

    // MARK: - Reading

    private static func sources() throws -> [(path: String, text: String)] {
        let folder = repository.appending(path: "Sources")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        return try files.filter { $0.pathExtension == "swift" }.map {
            (String($0.path.dropFirst(folder.path.count + 1)), try String(contentsOf: $0, encoding: .utf8))
        }
    }

    private static func references(in text: String) -> [String] {
        text.split(separator: "\n").filter { $0.utf8.contains(UInt8(ascii: "`")) && $0.drop { $0 == " " }.hasPrefix("//") }
            .flatMap { $0.matches(of: /``([^`]+)``/).map { String($0.1) } }
    }

    /// The names of types and of members, from all sources together.
    private struct Names {
        private var types: Set<Substring> = []
        private var members: Set<Substring> = ["init"]

        mutating func add(_ text: String) {
            let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
            types.formUnion(
                code.matches(of: /\b(?:struct|enum|class|protocol|actor|typealias|associatedtype) +(\w+)/).map(\.1))
            members.formUnion(code.matches(of: /\b(?:func|var|let) +`?(\w+)/).map(\.1))
            for list in code.matches(of: /\b(?:let|var) \(([^)]*)\)|\bcase ([^:\n]+)/) {
                members.formUnion((list.1 ?? list.2 ?? "").matches(of: /\w+/).map(\.0))
            }
        }

        /// - Parameter reference: `Type`, `member(_:)`, or several of these with slashes between them.
        func has(_ reference: String) -> Bool {
            reference.split(separator: "/").allSatisfy { part in
                let name = part.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                return name.first?.isUppercase == true ? types.contains(name) : members.contains(name)
            }
        }
    }
}
