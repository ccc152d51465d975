internal import OMAuth
internal import OMJSON
internal import OMShell

/// What a server says about a token, for a person or a program.
struct PrintedClaims {
    let claims: [String: JSON]
    let user: UserName
    let profile: Profile

    func print(_ output: Output) throws {
        guard output.format == .json else {
            let rows = claims.sorted { $0.key < $1.key }.map { [$0.key, $0.value.text ?? $0.value.serialized] }
            return try output.rows(rows, header: ["CLAIM", "VALUE"])
        }
        var document = JSONDocument()
        document.field("profile", .text(profile.name.text))
        document.field("user", .text(user.text))
        document.object("claims") { object in
            for (name, value) in claims.sorted(by: { $0.key < $1.key }) { object.json(name, value) }
        }
        try output.document(document)
    }
}
