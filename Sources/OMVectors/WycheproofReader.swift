// C2SP/wycheproof, testvectors_v1. Members that are not known are passed over, as its README asks of readers.

internal import OMCrypto

enum WycheproofReader {
    static func read(_ file: Fields) throws(Unreadable) -> Reading {
        let algorithm = try file.text("algorithm")
        var cases = JSONCases(.wycheproof, idName: "tcId")
        for group in try file.objects("testGroups") {
            try cases.add(group.objects("tests"), plan(group, algorithm))
        }
        return try cases.finish(announced: file.number("numberOfTests"))
    }

    private static func plan(_ group: Fields, _ algorithm: String) throws(Unreadable) -> GroupPlan {
        switch (algorithm, try group.text("type")) {
        case ("AES-CBC-PKCS5", "IndCpaTest"):
            guard try group.number("ivSize") == 128 else { throw group.wrong("ivSize", "128") }
            return JSONKinds.aesCBC(keyBits: try group.number("keySize"), padding: .pkcs7)
        case ("XCHACHA20-POLY1305", "AeadTest"):
            return JSONKinds.xchacha20Poly1305
        case ("HMACSHA256", "MacTest"):
            return JSONKinds.hmacSHA256(tagBits: try group.number("tagSize"))
        case ("HKDF-SHA-256", "HkdfTest"):
            return JSONKinds.hkdfSHA256
        case (_, let type):
            return .skip("\(algorithm.prefix(40)) (\(type.prefix(40))) is not supported yet")
        }
    }
}
