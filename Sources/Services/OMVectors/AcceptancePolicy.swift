// The policy for `acceptable` cases, flag by flag, with a reason for each line. Its reader is strict.

internal import OMJSON

/// The rules for cases that a file marks `acceptable`.
///
/// Each flag of a case that the policy names counts. A flag with ``Rule/refuse`` wins over a flag with ``Rule/accept``. If
/// the policy names none of them, ``otherwise`` holds. The name `ALGORITHM/Flag` is for one algorithm's cases only, and wins
/// over the name `Flag`.
public struct AcceptancePolicy: Sendable {
    public enum Rule: String, Sendable {
        /// The case must succeed and give the listed output.
        case accept
        /// The case must be refused.
        case refuse
        /// The case may succeed or be refused.
        case either
    }

    public struct Line: Sendable {
        public let flag: String
        public let rule: Rule
        public let reason: String
    }

    public let lines: [Line]
    /// The rule for a case of which the policy names no flag.
    public let otherwise: Rule

    private init(_ lines: [Line], otherwise: Rule) { (self.lines, self.otherwise) = (lines, otherwise) }

    /// The default policy, as docs/reference/vectors.md lists it.
    public static let standard = AcceptancePolicy(
        [
            Line(flag: "ExplicitParameters", rule: .either, reason: "RFC 5480 names its curves; reading needs no flag"),
            Line(flag: "LegacyPBE", rule: .either, reason: "old PKCS#12 files are read, not made"),
            Line(
                flag: "LowOrderPublic", rule: .refuse, reason: "RFC 7748 section 6.1: an all-zero secret is no secret"),
            Line(flag: "MissingNull", rule: .refuse, reason: "RFC 8017 section 9.2: the parameters are NULL"),
            Line(flag: "NonCanonicalPublic", rule: .accept, reason: "RFC 7748 section 5: u is reduced, not refused"),
            Line(flag: "ShortKey", rule: .refuse, reason: "RFC 3394 section 2: two blocks of 64 bits or more"),
            Line(flag: "SmallPublicKey", rule: .either, reason: "small keys are read, not made"),
            Line(flag: "Twist", rule: .accept, reason: "RFC 7748 section 5: points of the twist are points"),
            Line(flag: "WeakHash", rule: .either, reason: "SHA-1 is used only where it is asked for"),
            Line(
                flag: "ZeroSharedSecret", rule: .refuse, reason: "RFC 7748 section 6.1: an all-zero secret is no secret"
            ),
        ], otherwise: .either)

    /// A policy file (docs/reference/vectors.md): `{"format":"omvault-policy/1","otherwise":"either","flags":{"Twist":{"rule":
    /// "accept","reason":"…"}}}`.
    ///
    /// - Throws: ``VectorsError/policy(reason:)`` if the bytes do not have this form.
    public init(parsing bytes: [UInt8]) throws(VectorsError) {
        do { self = try Self.read(bytes) } catch { throw .policy(reason: error.reason) }
    }

    private static func read(_ bytes: [UInt8]) throws(UnreadableFile) -> AcceptancePolicy {
        guard bytes.count <= 1 << 20, String(validating: bytes, as: UTF8.self) != nil else {
            throw UnreadableFile("not UTF-8 text of at most 1 MiB")
        }
        let file = try Fields(try JSON(reading: bytes), at: "file")
        try file.requireOnly(["format", "otherwise", "flags"])
        guard try file.text("format") == "omvault-policy/1" else { throw file.wrong("format", "omvault-policy/1") }
        let flags = try file.object("flags")
        var lines: [Line] = []
        for name in flags.names.sorted() {
            let line = try flags.object(name)
            try line.requireOnly(["rule", "reason"])
            let reason = try line.text("reason")
            guard !name.isEmpty, !reason.isEmpty else { throw line.wrong("reason", "a reason") }
            lines.append(Line(flag: name, rule: try rule(line, "rule"), reason: reason))
        }
        return AcceptancePolicy(lines, otherwise: try rule(file, "otherwise"))
    }

    private static func rule(_ fields: Fields, _ name: String) throws(UnreadableFile) -> Rule {
        guard let rule = Rule(rawValue: try fields.text(name)) else {
            throw fields.wrong(name, "accept, refuse or either")
        }
        return rule
    }

    func rule(for vector: VectorCase) -> Rule {
        let rules = vector.flags.compactMap { flag in
            (lines.first { $0.flag == "\(vector.algorithm)/\(flag)" } ?? lines.first { $0.flag == flag })?.rule
        }
        if rules.contains(.refuse) { return .refuse }
        if rules.contains(.accept) { return .accept }
        return rules.isEmpty ? otherwise : .either
    }
}

extension AcceptancePolicy.Rule {
    var allowsAccepting: Bool { self != .refuse }
    var allowsRefusing: Bool { self != .accept }
}
