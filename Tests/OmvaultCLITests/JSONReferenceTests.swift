// docs/reference/json.md against the JSON that the commands print, and against the members that the sources name.

import ArgumentParser
import Foundation
import OMJSON
import TestSupport
import Testing

@testable import omvault_full

@Suite("The reference of JSON") struct JSONReferenceTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    /// A member of a document, as the page has it.
    private struct Member {
        let types: Set<String>
        /// Whether the member may be missing: its meaning begins with "If".
        let isOptional: Bool
    }

    /// The page: the members of each command by their paths, such as `items[].name`.
    private static func page() throws -> [String: [String: Member]] {
        var found: [String: [String: Member]] = [:]
        var commands: [String] = []
        let text = try String(contentsOf: root.appending(path: "docs/reference/json.md"), encoding: .utf8)
        let member = /\| `([^`]+)` \| ([a-z ]+) \| (.+) \|/
        for line in text.split(separator: "\n") {
            if line.hasPrefix("## ") || line.hasPrefix("### ") {
                commands = line.matches(of: /`omvault ([a-z0-9 -]+)`/).map { String($0.1) }
                for command in commands { found[command] = found[command] ?? [:] }
            } else if let row = line.wholeMatch(of: member) {
                for command in commands {
                    found[command]?[String(row.1)] = Member(
                        types: Set(row.2.split(separator: " or ").map(String.init)), isOptional: row.3.hasPrefix("If "))
                }
            }
        }
        return found
    }

    private static let verbs: [String] = {
        func below(_ command: any ParsableCommand.Type, _ words: [String]) -> [String] {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty else { return [words.joined(separator: " ")] }
            return commands.flatMap { below($0, words + [$0._commandName]) }
        }
        return below(CommandTree.self, [])
    }()

    /// The paths in a value, and the types at them. A member `*` of the page stands for any name.
    private static func paths(_ value: JSON, at path: String, _ page: [String: Member]) -> [(path: String, type: String)] {
        switch value {
        case .object(let members):
            return [(path, "object")]
                + members.flatMap { name, value in
                    let own = path.isEmpty ? name : path + "." + name
                    return paths(value, at: page[own] == nil && page[path + ".*"] != nil ? path + ".*" : own, page)
                }
        case .array(let elements): return [(path, "list")] + elements.flatMap { paths($0, at: path + "[]", page) }
        case .string: return [(path, "string")]
        case .number: return [(path, "number")]
        case .bool: return [(path, "boolean")]
        case .null: return [(path, "null")]
        }
    }

    @Test("each command has its section, and no section is of another command")
    func sections() throws {
        let page = try Self.page()
        #expect(Set(page.keys) == Set(Self.verbs), "\(Set(page.keys).symmetricDifference(Self.verbs))")
    }

    @Test("each member that a command prints is on the page with its type; each on the page is printed, or may be missing")
    func documents() async throws {
        let page = try Self.page()
        let ran = try await bash(". \(Self.root.appending(path: "Tests/Scripts/documents.bash").path)")
        var seen: [String: Set<String>] = [:]
        for line in ran.output.split(separator: "\n") {
            let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let command = parts[0]
            guard parts.count == 2, let document = try? JSON(parsing: Array(parts[1].utf8).span),
                let members = page[command]
            else {
                Issue.record("\(line)")
                continue
            }
            #expect(document.members?["error"] == nil, "\(line)")
            for (path, type) in Self.paths(document, at: "", members) where !path.isEmpty && path != "schema" {
                // The page has the members of elements, not the elements.
                guard !path.hasSuffix("[]") else { continue }
                guard let member = members[path] else {
                    Issue.record("\(command): \(path) is not on the page: \(line)")
                    continue
                }
                #expect(member.types.contains(type), "\(command): \(path) is a \(type)")
                seen[command, default: []].insert(path)
            }
        }
        #expect(seen.count > 60)
        for (command, paths) in seen {
            for (path, member) in page[command] ?? [:] where !member.isOptional {
                #expect(paths.contains(path), "\(command): \(path) is on the page and was not printed")
            }
        }
    }

    @Test("each member that the sources name is on the page, and each on the page is named in the sources")
    func sources() throws {
        let files = ["Doors/omvault-full", "Joiners/OMShell"].flatMap { room in
            let folder = Self.root.appending(path: "Sources/\(room)")
            return FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
        }
        var named: Set<String> = []
        // Bitwarden's own form is no document of omvault.
        let foreign = "BitwardenDocument.swift"
        for case let file as URL in files where file.pathExtension == "swift" && file.lastPathComponent != foreign {
            let text = try String(contentsOf: file, encoding: .utf8)
            // A regular expression costs far more than the look for a quote, and most lines have none.
            for line in text.split(separator: "\n")
            where line.utf8.contains(UInt8(ascii: "\"")) && !line.drop(while: { $0 == " " }).hasPrefix("//") {
                named.formUnion(Self.members(in: line))
            }
        }
        #expect(named.count > 150)
        let text = try String(contentsOf: Self.root.appending(path: "docs/reference/json.md"), encoding: .utf8)
        let written = Set(
            text.matches(of: /(?m)^\| `([^`]+)` \|/).flatMap { row in
                row.1.split(separator: ".").map { String($0).replacing("[]", with: "") }
            })
        #expect(named.subtracting(written) == [], "in the sources and not on the page")
        // `*` stands for names that users choose. The other names are made of two words, or are words of an answer.
        let made = Set(["key", "tag", "bytes"].flatMap { word in ["hex", "base64", "base32"].map { "\(word)_\($0)" } })
            .union(ItemColumn.allCases.map(\.rawValue)).union(["*", "match", "mismatch"])
        #expect(written.subtracting(named).subtracting(made) == [], "on the page only")
    }

    /// The names of members in a line of Swift.
    private static func members(in line: Substring) -> [String] {
        let calls = line.matches(of: /\.(?:field|object|objects|secret|concealed|counts|failures)\("([a-z_0-9]+)"/).map(\.1)
        let lists = line.matches(of: /"([a-z_0-9]+)", .*columns:/).map(\.1)
        let pairs = line.matches(of: /"([a-z_0-9]+)": \(?(?:\.(?:text|number|flag|list|time|null)|[a-z]+[A-Za-z]*\.)/).map(\.1)
        let facts = line.matches(of: /\("([a-z_0-9]+)", (?:\.(?:text|number|flag)|wanted)/).map(\.1)
        return (calls + lists + pairs + facts).map(String.init)
    }
}
