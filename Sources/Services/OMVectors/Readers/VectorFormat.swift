/// The formats that are read, by the names that reports give them.
public enum VectorFormat: String, Hashable, Sendable {
    case cavp = "CAVP"
    case acvp = "ACVP"
    case wycheproof = "Wycheproof"
    case native = "omvault-vectors/1"
    /// `Name = value` as the RFCs' vectors were written down by Python's `cryptography`.
    case text = "RFC text"
    /// `pkcs-1v2-1d2-vec`: hex blocks under `# Title:` lines.
    case rsaLabs = "RSA Labs"
    /// `sign.input` of the Ed25519 paper: four hex fields a line.
    case signInput = "sign.input"
}
