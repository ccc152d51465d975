/// A group of records with the same parameters, as a reader found it.
struct VectorGroup: Sendable {
    /// Wycheproof's and ACVP's `algorithm`, the native `kind`, the name of a text kind.
    let algorithm: String
    /// ACVP's `mode`, such as `sigVer`.
    var mode: String?
    /// Wycheproof's `type`, ACVP's `testType`.
    var type = ""
    /// The algorithm's name in reports: `ECDSA sigVer`, `block AES CBC`.
    let title: String
    /// The group's own fields: a JSON object, or in a text file `[Name = value]` and the fields that stay valid.
    let parameters: Fields
    /// `[ENCRYPT]`, `[P-256,SHA-256]`: the current sections without a value.
    var words: [String] = []
    /// The head of a text file: its comments and its name.
    var head: TextHeader?
    /// The files beside the vector file, for records that name such a file.
    var companions = CompanionFiles.none
}
