// The types of the rooms and doors, read from the sources.

import Foundation

/// The declaration of a type.
struct TypeDeclaration {
    let name: String
    /// The path below `Sources`.
    let path: String
    let isPublic: Bool
    /// Public or package: other rooms can name it.
    let isShared: Bool
    let isPrivate: Bool
    let isNested: Bool

    /// The file's name without its ending.
    var file: String { String(path.split(separator: "/").last?.dropLast(".swift".count) ?? "") }

    /// Every type under `Sources`.
    static func inSources() throws -> [TypeDeclaration] { try found.get() }

    /// Read once for all tests.
    private static let found = Result { try read() }

    private static func read() throws -> [TypeDeclaration] {
        let folder = repository.appending(path: "Sources")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        return try files.filter { $0.pathExtension == "swift" }.flatMap { file in
            declarations(
                in: try String(contentsOf: file, encoding: .utf8), path: String(file.path.dropFirst(folder.path.count + 1)))
        }
    }

    static func declarations(in text: String, path: String) -> [TypeDeclaration] {
        let words =
            /^( *)(?:@\w+(?:\([^)]*\))? +)*((?:public |package |private |fileprivate |final |indirect )*)(?:struct|enum|class|protocol|actor) (\w+)/
            .anchorsMatchLineEndings()
        return text.matches(of: words).map { match in
            TypeDeclaration(
                name: String(match.3), path: path, isPublic: match.2.contains("public"),
                isShared: match.2.contains("public") || match.2.contains("package"), isPrivate: match.2.contains("private"),
                isNested: !match.1.isEmpty)
        }
    }
}

/// The checkout that holds these tests.
let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
