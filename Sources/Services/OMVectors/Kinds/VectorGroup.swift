/// A group of records that share their parameters, as a reader found it.
struct VectorGroup: Sendable {
    /// Wycheproof's and ACVP's `algorithm`, the native `kind`, the name of a text kind.
    let algorithm: String
    /// ACVP's `mode`, such as `sigVer`.
    var mode: String?
    /// Wycheproof's `type`, ACVP's `testType`.
    var type = ""
    /// What a report calls the algorithm: `ECDSA sigVer`, `block AES CBC`.
    let title: String
    /// The group's own fields: a JSON object, or `[Name = value]` and the fields that stay in force in a text file.
    let parameters: Fields
    /// `[ENCRYPT]`, `[P-256,SHA-256]`: the sections without a value that are in force.
    var words: [String] = []
    /// The head of a text file: its comments and its name.
    var head: TextHeader?
    /// The files beside it, for records that name one.
    var companions = CompanionFiles.none
}
