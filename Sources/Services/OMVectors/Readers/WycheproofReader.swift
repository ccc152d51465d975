// The reader of C2SP/wycheproof, testvectors_v1. It ignores unknown members, as Wycheproof's README asks of readers.

enum WycheproofReader {
    static func read(_ file: Fields, _ companions: CompanionFiles) throws(UnreadableFile) -> ParsedVectors {
        // The files of JOSE name only their schema: `json_web_key_schema_v1.json`.
        let algorithm =
            try file.has("algorithm") ? file.text("algorithm") : file.text("schema").replacing("_schema_v1.json", with: "")
        var cases = JSONCases(.wycheproof, idName: "tcId")
        for parameters in try file.objects("testGroups") {
            let type = try parameters.text("type")
            let group = VectorGroup(
                algorithm: algorithm, type: type, title: String(algorithm.prefix(40)), parameters: parameters,
                companions: companions)
            try cases.add(parameters.objects("tests"), of: group, VectorKindList.wycheproof(group))
        }
        return try cases.finish(announced: file.number("numberOfTests"))
    }
}
