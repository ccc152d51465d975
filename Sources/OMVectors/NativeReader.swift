// The repository's own format, omvault-vectors/1 (docs/vectors.md). Unknown fields are refused in every kind that runs.

internal import OMCrypto

enum NativeReader {
    static func read(_ file: Fields) throws(Unreadable) -> Reading {
        guard try file.text("format") == VectorFormat.native.rawValue else {
            throw Unreadable("format is not \(VectorFormat.native.rawValue)")
        }
        try file.requireOnly(["format", "kind", "source", "notes", "numberOfTests", "groups"])
        try requireSource(file.object("source"))
        let kind = try file.text("kind")
        var cases = JSONCases(.native, idName: "id")
        for group in try file.objects("groups") {
            try group.requireOnly(["params", "tests"])
            let (plan, tests) = (try plan(kind, group.object("params")), try group.objects("tests"))
            if case .each = plan, let fields = testFields[kind] {
                for test in tests { try test.requireOnly(fields.union(["id", "result", "flags", "comment"])) }
            }
            try cases.add(tests, plan)
        }
        return try cases.finish(announced: file.number("numberOfTests"))
    }

    /// A value whose origin nobody can look up proves nothing.
    private static func requireSource(_ source: Fields) throws(Unreadable) {
        if source.has("document") {
            _ = try source.text("document")
            _ = try source.text("section")
        } else {
            _ = try source.text(source.has("files") ? "files" : "tool")
        }
    }

    private static let testFields: [String: Set<String>] = [
        "digest": ["msg", "md", "seed", "checkpoints"],
        "hmac": ["key", "msg", "tag"],
        "hkdf": ["ikm", "salt", "info", "size", "okm"],
        "aead": ["key", "iv", "aad", "msg", "ct", "tag"],
        "block": ["key", "iv", "msg", "ct"],
        "saltedhash": ["stored", "passwordHex"],
        "kdf-argon2": [
            "password", "salt", "iterations", "memoryKiB", "parallelism", "size", "out", "encoded", "passwordHex",
        ],
    ]

    private static func plan(_ kind: String, _ params: Fields) throws(Unreadable) -> GroupPlan {
        switch kind {
        case "digest":
            try params.requireOnly(["hash"])
            let name = try params.text("hash")
            guard let algorithm = try? DigestAlgorithm(named: name) else {
                return .skip("digest \(name.prefix(20)) is not supported yet")
            }
            return JSONKinds.digest(algorithm)
        case "hmac":
            try params.requireOnly(["hash", "tagBits"])
            if let unsupported = try otherThanSHA256(kind, params) { return unsupported }
            return JSONKinds.hmacSHA256(tagBits: try params.number("tagBits"))
        case "hkdf":
            try params.requireOnly(["hash"])
            return try otherThanSHA256(kind, params) ?? JSONKinds.hkdfSHA256
        case "aead": return try aead(params)
        case "block": return try block(params)
        case "saltedhash":
            try params.requireOnly(["scheme", "layout", "saltForm"])
            // The iOS SDK's strings are the ones that are written too; of the others any salt will do.
            let isWritten = params.has("saltForm") ? try params.text("saltForm").contains("hex") : false
            return JSONKinds.storedHash(isWritten: isWritten)
        case "kdf-argon2":
            try params.requireOnly(["type", "version"])
            guard try params.text("type") == "argon2id", try params.number("version") == 19 else {
                return .skip("Argon2 other than argon2id version 19 is not supported")
            }
            return JSONKinds.argon2id
        default:
            return .skip("kind \(kind.prefix(20)) is not supported yet")
        }
    }

    private static func otherThanSHA256(_ kind: String, _ params: Fields) throws(Unreadable) -> GroupPlan? {
        let hash = try params.text("hash")
        return hash == "sha256" ? nil : .skip("\(kind) with \(hash.prefix(20)) is not supported yet")
    }

    private static func aead(_ params: Fields) throws(Unreadable) -> GroupPlan {
        try params.requireOnly(["alg", "tagBits", "ivBits"])
        let name = try params.text("alg")
        guard name == "XCHACHA20-POLY1305" else { return .skip("aead \(name.prefix(20)) is not supported yet") }
        guard try params.number("tagBits") == 128, try params.number("ivBits") == 192 else {
            return .skip("XChaCha20-Poly1305 with other than a 128-bit tag and a 192-bit nonce")
        }
        return JSONKinds.xchacha20Poly1305
    }

    private static func block(_ params: Fields) throws(Unreadable) -> GroupPlan {
        try params.requireOnly(["cipher", "mode", "keyBits", "padding"])
        let (cipher, mode) = (try params.text("cipher"), try params.text("mode"))
        guard cipher == "AES", mode == "CBC" else {
            return .skip("\(cipher.prefix(20)) in mode \(mode.prefix(20)) is not supported yet")
        }
        switch try params.text("padding") {
        case "pkcs7": return JSONKinds.aesCBC(keyBits: try params.number("keyBits"), padding: .pkcs7)
        case "none": return JSONKinds.aesCBC(keyBits: try params.number("keyBits"), padding: .none)
        default: throw params.wrong("padding", "pkcs7 or none")
        }
    }
}
