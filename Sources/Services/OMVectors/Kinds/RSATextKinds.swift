// RSA in text: RSA Laboratories' sets and CAVP's files of signatures.

internal import OMCrypto

enum RSATextKinds {
    static let all =
        [labsPSS, labsOAEP, labsSignature, labsEncryption, oaepLabel]
        + [Scheme.pkcs1, .pss].flatMap { [sigGen($0), sigVer($0)] }

    // MARK: RSA Laboratories

    private static let labsPSS = VectorKind.rsaLabs("RSA-PSS") { (group) throws(UnreadableFile) in
        let key = try publicKey(group.parameters)
        return .each(flips: ["Message", "Signature"]) { (test, _) throws(UnreadableFile) in
            let salt = PSSSaltLength.bytes(try test.bytes("Salt").count)
            return .run(
                SignatureCheck(
                    key: key, algorithm: .rsaPSS(.insecureSHA1, salt: salt), message: try test.bytes("Message"),
                    signature: try test.bytes("Signature")))
        }
    }

    private static let labsSignature = VectorKind.rsaLabs("RSA PKCS#1 v1.5 Signature") { (group) throws(UnreadableFile) in
        let key = try publicKey(group.parameters)
        return .each(flips: ["Message", "Signature"]) { (test, _) throws(UnreadableFile) in
            .run(
                SignatureCheck(
                    key: key, algorithm: .legacyRSAPKCS1(.insecureSHA1), message: try test.bytes("Message"),
                    signature: try test.bytes("Signature")))
        }
    }

    /// SHA-1, unless the example's title says otherwise.
    private static let labsOAEP = VectorKind.rsaLabs("RSA-OAEP") { (group) throws(UnreadableFile) in
        let key = try privateKey(group.parameters)
        return .each(flips: ["Message", "Encryption"]) { (test, _) throws(UnreadableFile) in
            let name = test.has("alg") ? try test.text("alg") : "sha1"
            let maskName = test.has("mgf1") ? try test.text("mgf1") : name
            guard let hash = KeyChecks.hash(name), let mask = KeyChecks.hash(maskName) else {
                return .skip(KeyChecks.unknownHash(name))
            }
            return .run(
                UnwrapCheck(
                    key: key, oaep: OAEP(hash, mask: mask), message: try test.bytes("Message"),
                    ciphertext: try test.bytes("Encryption")))
        }
    }

    private static let labsEncryption = VectorKind.rsaLabs("RSA PKCS#1 v1.5 Encryption") { (group) throws(UnreadableFile) in
        let key = try privateKey(group.parameters)
        return .each(flips: ["Message", "Encryption"]) { (test, _) throws(UnreadableFile) in
            .run(
                UnwrapCheck(
                    key: key, oaep: nil, message: try test.bytes("Message"), ciphertext: try test.bytes("Encryption")))
        }
    }

    private static func publicKey(_ fields: Fields) throws(UnreadableFile) -> PublicKeySource {
        .rsa(modulus: try fields.integerBytes("n"), exponent: try fields.integerBytes("e"))
    }

    private static func privateKey(_ fields: Fields) throws(UnreadableFile) -> UnwrapCheck.PrivateKeySource {
        var numbers: [[UInt8]] = []
        for name in ["n", "e", "d", "p", "q", "dP", "dQ", "qInv"] { numbers.append(try fields.integerBytes(name)) }
        return .numbers(numbers)
    }

    /// BoringSSL's vectors of OAEP with a label, from Python's `cryptography`.
    private static let oaepLabel = VectorKind.text(
        TextLayout(
            name: "RSA OAEP",
            matches: { $0.startsWith(["COUNT", "KEY", "RSAPadding", "OAEPDigest", "OAEPLabel", "Input", "Output"]) },
            shapes: ["COUNT KEY RSAPadding OAEPDigest OAEPLabel Input Output"])
    ) { (_) throws(UnreadableFile) in
        .each(flips: ["OAEPLabel", "Input", "Output"]) { (record, _) throws(UnreadableFile) in
            let name = try record.text("OAEPDigest")
            guard let hash = KeyChecks.hash(name) else { return .skip(KeyChecks.unknownHash(name)) }
            guard try record.text("RSAPadding") == "OAEP" else { throw record.wrong("RSAPadding", "OAEP") }
            return .run(
                UnwrapCheck(
                    key: .pkcs8(try record.bytes("KEY")), oaep: OAEP(hash, label: try record.bytes("OAEPLabel")),
                    message: try record.quotedBytes("Output"), ciphertext: try record.bytes("Input")))
        }
    }

    // MARK: CAVP

    private enum Scheme: String {
        case pkcs1 = "RSA PKCS#1 v1.5"
        case pss = "RSA PSS"

        /// Found by the title, `SigGen PKCS#1 Ver1.5` or `FIPS186-3 - SigVer RSA PKCS#1 RSASSA-PSS`, else by the name. Files of
        /// X9.31 match neither.
        init?(_ head: TextHeader, _ operation: String) {
            let (title, name) = (head.title ?? "", head.fileName)
            if title.contains(operation), title.contains("PKCS#1") {
                self = title.contains("PSS") ? .pss : .pkcs1
            } else if head.title == nil, name.hasPrefix("\(operation)15") || name.hasPrefix("\(operation)PSS") {
                self = name.hasPrefix("\(operation)15") ? .pkcs1 : .pss
            } else {
                return nil
            }
        }
    }

    /// `n`, `e` and, in the files for testers, `d` are valid for all records below them.
    private static func sigGen(_ scheme: Scheme) -> VectorKind {
        .text(
            TextLayout(
                name: scheme.rawValue,
                matches: { $0.fields.first == "n" && Scheme($0, "SigGen") == scheme },
                lasting: ["n", "e", "d"], shapes: ["SHAAlg Msg S SaltVal?", "SHAAlg SaltVal Msg S"])
        ) { (group) throws(UnreadableFile) in
            let exponent = try group.parameters.integerBytes("e")
            return try signatures(group, scheme, flips: ["Msg", "S"]) { _ in exponent }
        }
    }

    /// Each record has its own `e`. Its notes on how it was broken are for people.
    private static func sigVer(_ scheme: Scheme) -> VectorKind {
        .text(
            TextLayout(
                name: scheme.rawValue,
                matches: { $0.fields.first == "n" && Scheme($0, "SigVer") == scheme },
                lasting: ["n", "p", "q"],
                shapes: ["SHAAlg e d? Msg S SaltVal? EM_with_hash_moved? EM_with_trailer_wrong? Result"])
        ) { (group) throws(UnreadableFile) in
            try signatures(group, scheme, flips: ["e", "Msg", "S"]) { (record) throws(UnreadableFile) in
                try record.integerBytes("e")
            }
        }
    }

    private static func signatures(
        _ group: VectorGroup, _ scheme: Scheme, flips: [String],
        _ exponent: @escaping @Sendable (Fields) throws(UnreadableFile) -> [UInt8]
    ) throws(UnreadableFile) -> GroupPlan {
        let modulus = try group.parameters.integerBytes("n")
        let bits = modulus.drop { $0 == 0 }.count * 8
        if group.parameters.has("mod"), try group.parameters.number("mod") != bits {
            return .skip("n has not the bits that [mod] says")
        }
        return .each(flips: flips) { (record, _) throws(UnreadableFile) in
            let name = try record.text("SHAAlg")
            guard let hash = KeyChecks.hash(name) else { return .skip(KeyChecks.unknownHash(name)) }
            let algorithm: SignatureAlgorithm =
                switch scheme {
                case .pkcs1: .legacyRSAPKCS1(hash)
                case .pss: .rsaPSS(hash, salt: .bytes(try saltCount(record, hash, group.head, modulusBits: bits)))
                }
            return .run(
                SignatureCheck(
                    key: .rsa(modulus: modulus, exponent: try exponent(record)), algorithm: algorithm,
                    message: try record.bytes("Msg"), signature: try record.bytes("S")))
        }
    }

    /// The salt's length: from `# Combinations selected:Mod Size 2048 with SHA-224(Salt len: 15);`, else from the record's own
    /// salt, else from `# Salt len: 20`. The comment comes first, because an empty salt is written as `00`.
    private static func saltCount(
        _ record: Fields, _ hash: DigestAlgorithm, _ head: TextHeader?, modulusBits: Int
    ) throws(UnreadableFile) -> Int {
        let comments = head?.comments ?? []
        let combinations = comments.first { $0.hasPrefix("Combinations selected:") } ?? ""
        for part in combinations.split(separator: "Mod Size ") where part.hasPrefix("\(modulusBits) with ") {
            for entry in part.dropFirst("\(modulusBits) with ".count).split(separator: ";") {
                let words = entry.split(whereSeparator: { "(): ".contains($0) })
                if words.count == 4, KeyChecks.hash(String(words[0])) == hash, let count = Int(words[3]) { return count }
            }
        }
        if record.has("SaltVal") { return try record.bytes("SaltVal").count }
        if let line = comments.first(where: { $0.hasPrefix("Salt len:") }),
            let count = line.split(separator: " ").last.flatMap({ Int($0) })
        {
            return count
        }
        throw UnreadableFile("\(record.place): nothing tells the salt's length")
    }
}
