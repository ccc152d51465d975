/// The formats that are read, by their names in reports.
public enum VectorFormat: String, Hashable, Sendable {
    case cavp = "CAVP"
    case acvp = "ACVP"
    case wycheproof = "Wycheproof"
    case native = "omvault-vectors/1"
    /// `Name = value`, the form of the RFCs' vectors in Python's `cryptography`.
    case text = "RFC text"
    /// `pkcs-1v2-1d2-vec`: hex blocks under `# Title:` lines.
    case rsaLabs = "RSA Labs"
    /// `sign.input` of the Ed25519 paper: four hex fields in each line.
    case signInput = "sign.input"
    /// One age file behind lines of `key: value`.
    case ageTestkit = "age testkit"
}
