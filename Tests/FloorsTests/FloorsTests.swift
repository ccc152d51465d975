// The compiler lets a transitive import pass; this does not.

import Foundation
import Testing

@Suite("The floors of the house") struct FloorsTests {
    private let repository = URL(filePath: #filePath).deletingLastPathComponent(2)

    @Test("every import goes down, and to a room that the table allows")
    func imports() throws {
        var checked = 0
        for source in try sources() {
            let problems = forbidden(in: source.text, of: source.room)
            #expect(problems.isEmpty, "\(source.path) imports \(problems.joined(separator: ", "))")
            checked += 1
        }
        #expect(checked > 20, "the sources were not found")
    }

    @Test("what a room imports, Package.swift declares for it, and nothing beyond the table")
    func manifest() throws {
        let declared = try manifestDependencies()
        #expect(Set(declared.keys) == Set(House.rooms.keys).subtracting(notYetBuilt(declared)))
        for (room, dependencies) in declared {
            let beyond = dependencies.subtracting(House.rooms[room, default: []])
            #expect(beyond.isEmpty, "\(room) depends on \(beyond.sorted())")
        }
        for source in try sources() {
            let undeclared = modules(importedBy: source.text).subtracting(House.system)
                .subtracting(declared[source.room, default: []])
            #expect(undeclared.isEmpty, "\(source.path) imports \(undeclared.sorted()) undeclared")
        }
    }

    @Test(
        "the check finds a forbidden import in every spelling",
        arguments: [
            "import OMVault", "internal import OMVault", "public import OMVault", "@testable import OMVault",
            "@_exported import OMVault", "@preconcurrency internal import OMVault", "import struct OMVault.Vault",
            "  import OMVault", "import OMVault.Sub", "import Foundation", "internal import Foundation",
            "@_spi(X) import OMVault", "import OMVault; import OMSecrets",
            "#if canImport(Foundation)\nimport Foundation\n#endif", "@_implementationOnly import OMVault // why not",
        ])
    func selfCheck(line: String) {
        #expect(!forbidden(in: "// a file\n\(line)\nlet x = 1\n", of: "OMAuth").isEmpty)
    }

    @Test("the check leaves allowed imports and mere words alone")
    func selfCheckAllowed() {
        let text = "internal import OMSecrets\nimport Glibc\n// import Foundation\nlet importOMVault = 1\n"
        #expect(forbidden(in: text, of: "OMAuth").isEmpty)
    }

    @Test("what is unsafe has one public name, under Insecure")
    func legacy() throws {
        // A `case` is as public as the enum around it; `isInsecure` is a question.
        let isPublic = try Regex(#"public [^{=]*\b(case|func|let|var|struct|enum|class|protocol) [a-zA-Z]*[iI]nsecure[A-Z]"#)
        let isCase = try Regex(#"\bcase ([a-zA-Z0-9_]+, )*insecure[A-Z]"#)
        let isEnum = try Regex(#"^ *(public |package |private |fileprivate )?(indirect )?enum "#)
        var cases = 0
        for source in try sources() where source.room == "OMCrypto" {
            var isInPublicEnum = false
            for line in source.text.split(separator: "\n") {
                if let head = line.firstMatch(of: isEnum) { isInPublicEnum = line[head.range].contains("public ") }
                #expect(line.firstMatch(of: isPublic) == nil, "\(source.path): \(line)")
                guard line.firstMatch(of: isCase) != nil else { continue }
                cases += 1
                #expect(!isInPublicEnum, "\(source.path): \(line)")
            }
        }
        #expect(cases >= 6, "the cases were not found")
    }

    @Test("no room keeps a private move-only type: an optimised build of another room could not destroy it")
    func handlesAreLinkable() throws {
        // The linker then misses the type's metadata, and only in a release build, which no other test makes.
        for source in try sources() where source.room == "OMCrypto" {
            let isPrivate = try Regex("(private|fileprivate) (struct|enum) [A-Za-z]+(<[^>]*>)?: ~Copyable")
            #expect(source.text.firstMatch(of: isPrivate) == nil, "\(source.path)")
        }
    }

    @Test("a record's bytes with what is bound to this device are asked for where they go to a file of this device, and nowhere else")
    func storedRecords() throws {
        // Whoever sends or exports a record takes `PortableRecord`, which has no bytes for such a one.
        let allowed: Set = ["OMRecords/PortableRecord.swift", "OMVault/Backup/BackupPart.swift", "OMVault/Items/Versions.swift"]
        let names = try Regex(#"\.\s*stored\b(?!\s*\()"#)
        var found: Set<String> = []
        for source in try sources() where House.rooms[source.room, default: []].contains("OMRecords") || source.room == "OMRecords" {
            if source.text.firstMatch(of: names) != nil { found.insert(source.path) }
        }
        #expect(found == allowed)
        // The type's own file declares it, for the package and no further.
        let record = try #require(try sources().first { $0.path == "OMRecords/Record.swift" })
        #expect(record.text.contains("package var stored: [UInt8]"))
    }

    @Test("docs/fuzzing.md has a line for every target of the fuzzer, and for nothing else")
    func fuzzing() throws {
        let folder = repository.appending(path: "Tests/Fuzz/Targets")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let targets = try files.flatMap { file in
            try String(contentsOf: file, encoding: .utf8).matches(of: /FuzzTarget\(\s*name: "([^"]+)"/).map { String($0.1) }
        }
        let page = try String(contentsOf: repository.appending(path: "docs/fuzzing.md"), encoding: .utf8)
        let lines = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let listed = lines.flatMap { line in line.split(separator: "|")[0].matches(of: /`([^`]+)`/).map { String($0.1) } }
        #expect(targets.count > 40, "the targets were not found")
        #expect(listed.sorted() == targets.sorted())
    }

    @Test("every package that Package.swift names is pinned to its minor version, and git ignores Package.resolved")
    func pins() async throws {
        let manifest = try String(contentsOf: repository.appending(path: "Package.swift"), encoding: .utf8)
        let packages = manifest.matches(of: /\.package\(url: "[^"]+", ([^"]*)"/).map { String($0.1) }
        #expect(packages == [String](repeating: ".upToNextMinor(from: ", count: 4))
        let ignored = try String(contentsOf: repository.appending(path: ".gitignore"), encoding: .utf8)
        #expect(ignored.split(separator: "\n").contains("Package.resolved"))
    }

    // MARK: - Reading

    private func forbidden(in text: String, of room: String) -> [String] {
        modules(importedBy: text).subtracting(House.system).subtracting(House.rooms[room, default: []]).sorted()
    }

    private func modules(importedBy text: String) -> Set<String> {
        let declaration =
            /(?:^|;)\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var|actor)\s+)?(\w+)/
            .anchorsMatchLineEndings()
        return Set(text.matches(of: declaration).map { String($0.1) })
    }

    private struct Source {
        let path: String
        let room: String
        let text: String
    }

    private func sources() throws -> [Source] {
        let folder = repository.appending(path: "Sources")
        let files =
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        return try files.filter { $0.pathExtension == "swift" }.map { file in
            let path = file.path.dropFirst(folder.path.count + 1)
            let room = path.prefix { $0 != "/" }
            return Source(path: String(path), room: String(room), text: try String(contentsOf: file, encoding: .utf8))
        }
    }

    /// `name → dependencies` of every target that is no test, read from the manifest's text: asking SwiftPM would wait
    /// for the very run that this test is part of.
    private func manifestDependencies() throws -> [String: Set<String>] {
        let manifest = try String(contentsOf: repository.appending(path: "Package.swift"), encoding: .utf8)
        let targets = manifest.split(separator: /\.(?:target|executableTarget|systemLibrary|testTarget)\(\s*name:/)
            .dropFirst()
        let kinds = manifest.matches(of: /\.(target|executableTarget|systemLibrary|testTarget)\(\s*name:/).map { $0.1 }
        var found: [String: Set<String>] = [:]
        // The fuzzer's targets are tests as well, and say so by their path.
        for (kind, target) in zip(kinds, targets) where kind != "testTarget" && !target.contains("path: \"Tests/") {
            guard let name = target.firstMatch(of: /"([^"]+)"/)?.1 else { continue }
            let list = target.firstMatch(of: /dependencies:\s*\[([^\]]*)\]/)?.1 ?? ""
            let plain = list.replacing(/package:\s*"[^"]*"/, with: "")
            found[String(name)] = Set(plain.matches(of: /"([^"]+)"/).map { String($0.1) })
        }
        return found
    }

    /// Rooms of the table whose folder does not exist yet.
    private func notYetBuilt(_ declared: [String: Set<String>]) -> Set<String> {
        Set(
            House.rooms.keys.filter { room in
                declared[room] == nil
                    && !FileManager.default.fileExists(atPath: repository.appending(path: "Sources/\(room)").path)
            })
    }
}

extension URL {
    fileprivate func deletingLastPathComponent(_ above: Int) -> URL {
        (0...above).reduce(self) { url, _ in url.deletingLastPathComponent() }
    }
}
