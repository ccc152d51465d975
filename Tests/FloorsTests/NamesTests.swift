// Tests of the names of types and of their files.

import Testing

@Suite("The names of types") struct NamesTests {
    @Test("no two top-level types of the rooms and doors have the same name")
    func unique() throws {
        let types = try TypeDeclaration.inSources().filter { !$0.isNested }
        for (name, places) in Dictionary(grouping: types, by: \.name) {
            #expect(places.count == 1, "\(name): \(places.map(\.path))")
        }
        #expect(types.count > 400, "the sources were not found")
    }

    /// The uses of a key: empty types in one file.
    private static let keyUses: Set = [
        "DerivingUse", "Sealing", "Wrapping", "Unlocking", "Remembering", "Deriving", "Authenticating", "Hashing", "Signing",
        "Agreeing",
    ]

    @Test("a public type is in the file of its name, and every file with types has a type of its name")
    func files() throws {
        let types = try TypeDeclaration.inSources().filter { !$0.isNested && !$0.isPrivate }
        for (path, types) in Dictionary(grouping: types, by: \.path) {
            #expect(types.contains { $0.name == $0.file }, "\(path): \(types.map(\.name))")
            for type in types where type.isPublic && type.name != type.file {
                #expect(type.file == "KeyUse" && Self.keyUses.contains(type.name), "\(path): \(type.name)")
            }
        }
    }

    @Test("the check reads types after every modifier, and ignores ordinary text")
    func selfCheck() {
        let text = """
            /// struct Comment
            @MainActor public final class One {
                package enum Two: Int {}
            }
            public indirect enum Three {}
            private struct Four: ~Copyable {}
            extension Five {}
            let text = "struct Six"
            actor Seven {}
            """
        let found = TypeDeclaration.declarations(in: text, path: "Room/One.swift")
        #expect(found.map(\.name) == ["One", "Two", "Three", "Four", "Seven"])
        #expect(found.map(\.isPublic) == [true, false, true, false, false])
        #expect(found.map(\.isNested) == [false, true, false, false, false])
        #expect(found.map(\.isPrivate) == [false, false, false, true, false])
        #expect(found.allSatisfy { $0.file == "One" })
    }
}
