// Tests of the labels of parameters, which they read from the sources.

import Foundation
import Testing

@Suite("The labels of parameters") struct LabelsTests {
    @Test("no function takes more than three parameters without a label")
    func labels() throws {
        let folder = repository.appending(path: "Sources")
        let files =
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        var checked = 0
        for file in files where file.pathExtension == "swift" {
            let path = file.path.dropFirst(folder.path.count + 1)
            let found = Self.unlabelled(in: try String(contentsOf: file, encoding: .utf8))
            #expect(found.isEmpty, "\(path): \(found.joined(separator: ", "))")
            checked += 1
        }
        #expect(checked > 300, "the sources were not found")
    }

    @Test(
        "the check finds a function wherever its parameters are written",
        arguments: [
            "func add(_ a: Int, _ b: Int, _ c: Int, _ d: Int) {}",
            "private static func add<T: P>(\n    _ a: T, _ b: [Int: (Int) -> Int],\n    _ c: inout Int, last: Int = f(1, 2), _ d: Int\n)",
            "init(_ a: A, b: B, _ c: consuming C, _ d: D?, _ e: (Int, Int)) throws",
            "init?(_ a: Int, _ b: Int, _ c: Int, _ counts: Int...)",
        ])
    func selfCheck(text: String) {
        let name = text.contains("func") ? "add" : "init"
        #expect(Self.unlabelled(in: "// a file\n\(text)\n") == ["line 2, \(name)"])
    }

    @Test("the check accepts three parameters, labels and calls")
    func selfCheckAllowed() {
        let text = """
            func add(_ a: Int, _ b: Int, _ c: Int, to d: Int) {}
            init(_ a: (Int, Int), _ body: (_ a: Int, _ b: Int) -> Int) {}
            self.init(a, b, c, d)
            """
        #expect(Self.unlabelled(in: text).isEmpty)
    }

    // MARK: - Reading

    /// The lines and names of the functions with more than three parameters without a label.
    private static func unlabelled(in text: String) -> [String] {
        text.matches(of: /\b(?:func +(\w+)|init[?]?)(?:<[^(]*>)?\(/).compactMap { match in
            guard parameters(from: match.range.upperBound, in: text).count(where: { $0.hasPrefix("_ ") }) > 3 else { return nil }
            let line = text[..<match.range.lowerBound].count { $0 == "\n" } + 1
            return "line \(line), \(match.output.1 ?? "init")"
        }
    }

    /// The texts between commas, from after an opening parenthesis to its closing one.
    private static func parameters(from start: String.Index, in text: String) -> [String] {
        var (found, depth) = ([""], 0)
        for character in text[start...] {
            if "([{".contains(character) { depth += 1 }
            if ")]}".contains(character) { depth -= 1 }
            guard depth >= 0 else { break }
            if character == ",", depth == 0 { found.append("") } else { found[found.count - 1].append(character) }
        }
        return found.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    }
}
