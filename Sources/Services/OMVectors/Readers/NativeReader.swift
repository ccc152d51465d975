// The reader of the repository's own format, omvault-vectors/1 (docs/reference/vectors.md). It refuses unknown fields in every kind that
// runs.

enum NativeReader {
    static func read(_ file: Fields, _ companions: CompanionFiles) throws(UnreadableFile) -> ParsedVectors {
        guard try file.text("format") == VectorFormat.native.rawValue else {
            throw UnreadableFile("format is not \(VectorFormat.native.rawValue)")
        }
        try file.requireOnly(["format", "kind", "source", "notes", "numberOfTests", "groups"])
        try requireSource(file.object("source"))
        let kind = try file.text("kind")
        var cases = JSONCases(.native, idName: "id")
        for object in try file.objects("groups") {
            try object.requireOnly(["params", "tests"])
            let parameters = try object.object("params")
            let group = VectorGroup(
                algorithm: kind, title: title(kind, parameters), parameters: parameters, companions: companions)
            let (found, tests) = (try VectorKindList.native(group), try object.objects("tests"))
            if let found {
                if case .skip = found.plan {
                } else {
                    for test in tests {
                        try test.requireOnly(found.fields.union(["id", "result", "flags", "comment"]))
                    }
                }
            }
            try cases.add(tests, of: group, found?.plan)
        }
        return try cases.finish(announced: file.number("numberOfTests"))
    }

    /// `block AES CBC`, `ecdsa P-256 SHA-256`: the kind and the parameters that name an algorithm.
    private static func title(_ kind: String, _ parameters: Fields) -> String {
        let names = ["cipher", "mode", "alg", "type", "curve", "hash"].compactMap { try? parameters.text($0) }
        return ([kind] + names).map { $0.prefix(20) }.joined(separator: " ")
    }

    /// Requires the origin of the values: a value that a reader cannot look up proves nothing.
    private static func requireSource(_ source: Fields) throws(UnreadableFile) {
        if source.has("document") {
            _ = try source.text("document")
            _ = try source.text("section")
        } else {
            _ = try source.text(source.has("files") ? "files" : "tool")
        }
    }
}
