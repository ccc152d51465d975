// Tests of the floors: the rooms import only what Package.swift allows. The compiler also accepts transitive imports.

import Foundation
import Testing

@Suite("The floors of the house") struct FloorsTests {
    @Test("every import names a room that Package.swift allows this room to import")
    func imports() throws {
        let house = try House(repository)
        var checked = 0
        for source in try sources() {
            let problems = forbidden(in: source.text, of: source.room, house)
            #expect(problems.isEmpty, "\(source.path) imports \(problems.joined(separator: ", "))")
            checked += 1
        }
        #expect(checked > 400, "the sources were not found")
    }

    @Test("each room imports only C modules and rooms on lower floors")
    func floors() throws {
        let house = try House(repository)
        #expect(house.rooms.count >= 12 && house.cModules.count >= 6, "the table was not read")
        for (name, room) in house.rooms {
            for dependency in room.imports where !house.cModules.contains(dependency) {
                let below = try #require(house.rooms[dependency], "\(name) imports \(dependency), which is no room")
                #expect(below.floor.isUnder(room.floor), "\(name) imports \(dependency)")
            }
        }
    }

    @Test("the small program has no room below it that opens vaults or links libcrypto")
    func smallProgram() throws {
        let house = try House(repository)
        var (under, next): (Set<String>, [String]) = ([], ["omvault"])
        while let room = next.popLast() {
            for name in house.rooms[room]?.imports ?? [] where under.insert(name).inserted { next.append(name) }
        }
        #expect(under.isSuperset(of: ["OMAgentProtocol", "OMItems"]), "the table was not read")
        #expect(under.isDisjoint(with: ["OMVault", "OMStorage", "OMCrypto", "OMAuth", "COpenSSL", "CSQLite"]))
    }

    @Test("Sources has one folder per floor with its rooms, and the C modules")
    func folders() throws {
        let house = try House(repository)
        let floors = Dictionary(grouping: house.rooms.keys) { house.rooms[$0]?.floor.rawValue ?? "" }
        #expect(try names(in: "Sources") == Set(floors.keys).union(["C"]))
        for (floor, rooms) in floors {
            // The PAM module is C, and its own script builds it.
            #expect(try names(in: "Sources/\(floor)") == Set(rooms).union(floor == "Doors" ? ["pam_omvault"] : []))
        }
        #expect(try names(in: "Sources/C") == house.cModules.union(["Linking"]))
    }

    @Test("docs/internals/design.md says what each room owns, and names no other room")
    func page() throws {
        let page = try String(contentsOf: repository.appending(path: "docs/internals/design.md"), encoding: .utf8)
        let table = try #require(page.split(separator: "\n| room | owns |\n").last?.split(separator: "\n\n").first)
        let named = table.split(separator: "\n").dropFirst().flatMap { row in
            row.split(separator: "|")[0].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let house = try House(repository)
        #expect(named.sorted() == house.cModules.union(house.rooms.keys).sorted())
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
    func selfCheck(line: String) throws {
        #expect(try !forbidden(in: "// a file\n\(line)\nlet x = 1\n", of: "OMAuth", House(repository)).isEmpty)
    }

    @Test("the check accepts allowed imports and ordinary text")
    func selfCheckAllowed() throws {
        let text = "internal import OMSecrets\nimport Glibc\n// import Foundation\nlet importOMVault = 1\n"
        #expect(try forbidden(in: text, of: "OMAuth", House(repository)).isEmpty)
    }

    @Test("the unsafe names are public under Insecure only")
    func legacy() throws {
        // A `case` is as public as the enum around it. `isInsecure` only asks, so it is allowed.
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

    @Test("no room has a private move-only type, because an optimised build of another room could not destroy it")
    func handlesAreLinkable() throws {
        // Then the linker misses the type's metadata, but only in a release build, which no other test makes.
        for source in try sources() where source.room == "OMCrypto" {
            let isPrivate = try Regex("(private|fileprivate) (struct|enum) [A-Za-z]+(<[^>]*>)?: ~Copyable")
            #expect(source.text.firstMatch(of: isPrivate) == nil, "\(source.path)")
        }
    }

    @Test(
        "only code that writes files of this device asks for a record's bytes with its device-bound parts"
    )
    func storedRecords() throws {
        // Code that sends or exports a record takes `PortableRecord`, which has no bytes for such a record.
        let allowed: Set = [
            "OMRecords/PortableRecord.swift", "OMVault/Backup/BackupWriter.swift", "OMVault/Items/StoredVersion.swift",
            "OMVault/Chunks/StoredChunks.swift",
        ]
        let names = try Regex(#"\.\s*stored\b(?!\s*\()"#)
        let house = try House(repository)
        var found: Set<String> = []
        for source in try sources()
        where source.room == "OMRecords" || house.rooms[source.room]?.imports.contains("OMRecords") == true {
            if source.text.firstMatch(of: names) != nil { found.insert(source.path) }
        }
        #expect(found == allowed)
        // The type's own file declares it, for the package only.
        let record = try #require(try sources().first { $0.path == "OMRecords/Record.swift" })
        #expect(record.text.contains("package var stored: [UInt8]"))
    }

    @Test("docs/internals/fuzzing.md has one line for every target of the fuzzer, and no other line")
    func fuzzing() throws {
        let folder = repository.appending(path: "Tests/Fuzz/Targets")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let targets = try files.flatMap { file in
            try String(contentsOf: file, encoding: .utf8).matches(of: /FuzzTarget\(\s*name: "([^"]+)"/).map { String($0.1) }
        }
        let page = try String(contentsOf: repository.appending(path: "docs/internals/fuzzing.md"), encoding: .utf8)
        let lines = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let listed = lines.flatMap { line in line.split(separator: "|")[0].matches(of: /`([^`]+)`/).map { String($0.1) } }
        #expect(targets.count > 40, "the targets were not found")
        #expect(listed.sorted() == targets.sorted())
    }

    @Test("every package that Package.swift names is pinned to its minor version, and git ignores Package.resolved")
    func pins() async throws {
        let manifest = try String(contentsOf: repository.appending(path: "Package.swift"), encoding: .utf8)
        let packages = manifest.matches(of: /\.package\(url: "[^"]+", ([^"]*)"/).map { String($0.1) }
        #expect(packages == [String](repeating: ".upToNextMinor(from: ", count: 9))
        let ignored = try String(contentsOf: repository.appending(path: ".gitignore"), encoding: .utf8)
        #expect(ignored.split(separator: "\n").contains("Package.resolved"))
    }

    // MARK: - Reading

    private func forbidden(in text: String, of room: String, _ house: House) -> [String] {
        modules(importedBy: text).subtracting(House.system).subtracting(house.rooms[room]?.modules ?? []).sorted()
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

    /// The rooms' Swift files. Their paths begin with the room.
    private func sources() throws -> [Source] {
        let folder = repository.appending(path: "Sources")
        let files =
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        return try files.filter { $0.pathExtension == "swift" }.map { file in
            let path = file.path.dropFirst(folder.path.count + 1).drop { $0 != "/" }.dropFirst()
            let room = path.prefix { $0 != "/" }
            return Source(path: String(path), room: String(room), text: try String(contentsOf: file, encoding: .utf8))
        }
    }

    private func names(in folder: String) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: repository.appending(path: folder).path))
    }
}
