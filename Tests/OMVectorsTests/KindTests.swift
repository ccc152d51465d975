import Foundation
import OMJSON
import Testing

@testable import OMVectors

/// The repository's own vectors, broken on purpose. A kind whose check cannot fail proves nothing.
@Suite struct KindTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "vectors")

    /// For each kind, a test's fields in which every byte matters to a valid case.
    private static let decisive = [
        "digest": ["msg", "md", "seed"], "hmac": ["key", "msg", "tag"], "hkdf": ["ikm", "salt", "info", "okm"],
        "aead": ["key", "iv", "aad", "msg", "ct", "tag"], "block": ["key", "iv", "msg", "ct"],
        "saltedhash": ["passwordHex"],
        "kdf-argon2": ["password", "salt", "secret", "ad", "out", "passwordHex"],
        "pbkdf2": ["password", "salt", "out"], "scrypt": ["password", "salt", "out"],
        "kdf-bcrypt": ["password", "salt", "out"],
        "password-hash": ["passwordHex", "stored"],
        "hotp": ["secret", "code"], "totp": ["secret", "code"], "base32": ["bytes", "text"],
        "kw": ["key", "msg", "ct"], "openssl-enc": ["passwordHex", "msg", "ct"],
        "file-container": ["password", "key", "container", "msg", "msgSha256"],
        "ecdsa": ["msg", "sig"], "rsa-verify": ["msg", "sig"], "rsa-oaep": ["msg", "label", "ct"],
        "ed25519": ["seed", "pk", "msg", "sig"], "xdh": ["private", "public", "shared"],
        "keyfile": ["passwordHex", "spkiSha256"], "pkcs12": ["passwordHex", "spkiSha256", "certSha256"],
        "jws": ["jws", "payload"], "jwk-thumbprint": ["thumbprint"],
    ]

    @Test("one flipped bit in any field of any valid case is a failure, in every kind")
    func mutation() throws {
        var flips = 0
        let files = try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path).sorted()
        for name in files where name.hasSuffix(".json") {
            let original = try JSON(reading: [UInt8](Data(contentsOf: Self.folder.appending(path: name))))
            guard case .object(let members) = original, case .string(let kind)? = members["kind"] else { continue }
            for field in try #require(Self.decisive[kind]) {
                // The last bit of a DES key is parity.
                if field == "key", name.contains("des") { continue }
                let (mutated, count) = flip(field, in: original)
                guard count > 0 else { continue }
                guard case .object(let broken) = mutated else { continue }
                let companions = CompanionFiles(of: Self.folder.appending(path: name).path)
                let report = VectorRunner.run(try NativeReader.read(Fields(broken, at: "file"), companions), at: name)
                #expect(report.failures.count == count, "\(name): \(field)")
                flips += count
            }
        }
        #expect(flips == 1212)
    }

    /// Changes the last digit of `field`, or of the first element of a list, in every valid test that has the field.
    private func flip(_ field: String, in value: JSON) -> (JSON, Int) {
        switch value {
        case .array(let elements):
            let flipped = elements.map { flip(field, in: $0) }
            return (.array(flipped.map(\.0)), flipped.reduce(0) { $0 + $1.1 })
        case .object(var members):
            if members["result"] == .string("valid"), case .string(let text)? = members[field], !text.isEmpty {
                let digit = text.suffix(1) == "1" ? "0" : "1"
                members[field] = .string(text.dropLast() + digit)
                return (.object(members), 1)
            }
            if members["result"] == .string("valid"), case .array(let texts)? = members[field],
                case .string(let text)? = texts.first
            {
                let digit = text.suffix(1) == "1" ? "0" : "1"
                members[field] = .array([.string(text.dropLast() + digit)] + texts.dropFirst())
                return (.object(members), 1)
            }
            var count = 0
            for (name, member) in members {
                let (flipped, more) = flip(field, in: member)
                members[name] = flipped
                count += more
            }
            return (.object(members), count)
        default: return (value, 0)
        }
    }

    @Test("work beyond the cap is skipped, and parameters that no function accepts fail")
    func argon2Bounds() {
        let head = """
            {"format": "omvault-vectors/1", "kind": "kdf-argon2", "source": {"tool": "none"}, "notes": {},
             "numberOfTests": 1, "groups": [{"params": {"type": "argon2id", "version": 19}, "tests": [{"id": 1,
            """
        let tail = "\"result\": \"valid\", \"flags\": [], \"comment\": \"\"}]}]}"
        let raw = { (memory: Int, passes: Int, lanes: Int, salt: Int, size: Int) in
            head
                + "\"password\": \"00\", \"salt\": \"\(String(repeating: "00", count: salt))\", \"iterations\": \(passes),"
                + "\"memoryKiB\": \(memory), \"parallelism\": \(lanes), \"size\": \(size), "
                + "\"out\": \"\(String(repeating: "00", count: size))\"," + tail
        }
        for text in [
            raw(8, 1, 1, 16, 16), raw(16, 1, 2, 8, 4), raw(7, 1, 1, 16, 16), raw(8, 0, 1, 16, 16), raw(8, 1, 2, 16, 16),
            raw(8, 1, 1, 7, 16), raw(8, 1, 1, 16, 3), raw(8, 1, 1, 16, 0), raw(8, 1, 0, 16, 16),
        ] {
            #expect(outcome(text) == oneFails)
        }
        for text in [
            raw(1 << 21, 1, 1, 16, 16), raw(.max, .max, 1, 16, 16), raw(1 << 20, 5, 1, 16, 16),
            raw(8, 1 << 20, 1, 16, 16),
        ] {
            #expect(outcome(text) == skips(1))
        }
        for costs in ["m=4294967295,t=1,p=1", "m=8,t=4294967295,p=1", "m=1048576,t=1048576,p=1"] {
            let encoded = "$argon2id$v=19$\(costs)$c29tZXNhbHQ$AAAAAAAA"
            #expect(
                outcome(head + "\"encoded\": \"\(encoded)\", \"passwordHex\": \"\"," + tail) == skips(1), "\(costs)")
        }
        for encoded in [
            "", "$", "$argon2id$", "$argon2id$v=19$m=8,t=1,p=1,x=1$AA$AA", "$argon2id$v=19$m=8$AA$AA",
            "$argon2id$v=19$m=8,t=1,p=4294967295$c29tZXNhbHQ$AAAAAAAA",
            "$argon2id$v=19$m=8,t=,p=1$c29tZXNhbHQ$AAAAAAAA",
            "$argon2id$v=19$m=99999999999999999999,t=1,p=1$c29tZXNhbHQ$AAAAAAAA",
        ] {
            let text = head + "\"encoded\": \"\(encoded)\", \"passwordHex\": \"\"," + tail
            #expect(outcome(text) == oneFails, "\(encoded)")
        }
    }
}
