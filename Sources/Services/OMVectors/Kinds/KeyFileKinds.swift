// Key files. The key of a file is compared by the SHA-256 of its SubjectPublicKeyInfo.

internal import OMCrypto
internal import OMSecrets

/// A key file.
struct KeyFileCheck: VectorCheck {
    let bytes: [UInt8]
    let isPrivate: Bool
    /// Nil for none.
    let password: [UInt8]?
    let fingerprint: [UInt8]

    func run() -> CheckOutcome {
        KeyChecks.outcome {
            let file = try KeyFile(SecretBytes(copying: bytes))
            guard file.isPrivate == isPrivate else { return .differs("the file holds the other half") }
            let found: [UInt8]
            if !isPrivate {
                found = try file.publicKey().fingerprint()
            } else if let password {
                let key = try file.privateKey(password: SecretBytes(copying: password))
                found = try key.publicKey().fingerprint()
            } else {
                found = try file.privateKey().publicKey().fingerprint()
            }
            return found == fingerprint ? .agrees : .differs("the key is another")
        }
    }
}

/// A PKCS#12 file: its one key, if any, and its certificates in any order.
struct PKCS12Check: VectorCheck {
    let bytes: [UInt8]
    let password: [UInt8]
    let certificates: [[UInt8]]
    /// Nil for no key.
    let fingerprint: [UInt8]?

    func run() -> CheckOutcome {
        KeyChecks.outcome {
            let contents = try PKCS12File(SecretBytes(copying: bytes)).open(password: SecretBytes(copying: password))
            var found: [[UInt8]] = []
            for certificate in contents.certificates { found.append(try certificate.fingerprint()) }
            guard Set(found) == Set(certificates), found.count == certificates.count else {
                return .differs("the certificates are others")
            }
            guard let fingerprint else {
                return contents.identities.isEmpty ? .agrees : .differs("there is a key where none should be")
            }
            guard contents.identities.count == 1, let identity = contents.identities.first else {
                return .differs("not one key")
            }
            guard try identity.key.publicKey().fingerprint() == fingerprint else {
                return .differs("the key is another")
            }
            return .agrees
        }
    }
}

enum KeyFileKinds {
    static let all = [keyFile, pkcs12]

    private static let keyFile = VectorKind.native(
        "keyfile", params: [],
        test: ["file", "role", "encoding", "keyType", "container", "passwordHex", "spkiSha256"]
    ) { (group) throws(UnreadableFile) in
        .each(flips: ["spkiSha256", "passwordHex"]) { (test, _) throws(UnreadableFile) in
            let role = try test.text("role")
            guard role == "private" || role == "public" else { throw test.wrong("role", "private or public") }
            return .run(
                KeyFileCheck(
                    bytes: try group.companions.bytes(try test.text("file")), isPrivate: role == "private",
                    password: test.isNull("passwordHex") ? nil : try test.bytes("passwordHex"),
                    fingerprint: try test.bytes("spkiSha256", count: 32)))
        }
    }

    private static let pkcs12 = VectorKind.native(
        "pkcs12", params: [],
        test: ["file", "passwordHex", "certSha256", "friendlyNames", "spkiSha256", "keyType", "options"]
    ) { (group) throws(UnreadableFile) in
        .each(flips: ["passwordHex", "certSha256", "spkiSha256"]) { (test, _) throws(UnreadableFile) in
            .run(
                PKCS12Check(
                    bytes: try group.companions.bytes(try test.text("file")),
                    password: test.isNull("passwordHex") ? [] : try test.bytes("passwordHex"),
                    certificates: try test.hexes("certSha256"),
                    fingerprint: test.isNull("spkiSha256") ? nil : try test.bytes("spkiSha256", count: 32)))
        }
    }
}
