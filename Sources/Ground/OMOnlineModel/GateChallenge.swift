/// A gate's refusal of a request without a token: `WWW-Authenticate: OAM-Auth realm="…", request-ctx="…"`.
public struct GateChallenge: Hashable, Sendable {
    /// The text that goes back with the question for a token, unchanged.
    public let context: String
    /// The gate that asks. Its level and its path are part of it: a token of a lower level does not open it.
    public let gate: WebGate

    /// - Parameter field: The value of a `WWW-Authenticate` header.
    /// - Returns: nil if it is no challenge of such a gate.
    public init?(_ field: String) {
        let scheme = field.prefix { $0 != " " }
        guard scheme.lowercased() == "oam-auth", field.utf8.count <= 64 << 10 else { return nil }
        var rest = field.dropFirst(scheme.count)
        var values: [String: String] = [:]
        while true {
            rest = rest.drop { " ,".contains($0) }
            guard let equals = rest.firstIndex(of: "=") else { break }
            let name = rest[..<equals].lowercased()
            rest = rest[rest.index(after: equals)...]
            guard rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") else { return nil }
            // Two readers of two values under one name would read two challenges.
            guard values.updateValue(String(rest.dropFirst()[..<end]), forKey: name) == nil else { return nil }
            rest = rest[rest.index(after: end)...]
        }
        guard rest.isEmpty, let context = values["request-ctx"], !context.isEmpty, let realm = values["realm"] else { return nil }
        self.context = context
        gate = WebGate(realm: realm)
    }
}
