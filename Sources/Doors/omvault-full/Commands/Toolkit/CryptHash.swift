// Stored hashes that `crypto check` does not read: those of some methods of crypt(3), and those of unknown schemes.

internal import OMCrypto
internal import OMShell

/// These hashes differ from a scheme that `--schemes` could allow: no option makes them readable.
enum CryptHash {
    private static let schemes = [
        (prefix: "$1$", name: "md5crypt", openssl: "-1"), (prefix: "$apr1$", name: "Apache's md5crypt", openssl: "-apr1"),
        (prefix: "$gy$", name: "gost-yescrypt", openssl: nil), (prefix: "$7$", name: "scrypt of crypt(3)", openssl: nil),
        (prefix: "$sha1$", name: "sha1crypt", openssl: nil),
    ]

    /// - Throws: ``ExitStatus/unsupported`` if the stored hash is one of them.
    static func refuse(_ stored: Span<UInt8>) throws(Failure) {
        for (prefix, name, openssl) in schemes where begins(stored, with: prefix) {
            throw Failure(
                .unsupported, "\(prefix)… is a hash of crypt(3), \(name), which is not read here",
                hint: openssl.map { "openssl passwd \($0) -salt SALT -stdin prints the hash of a value, to compare" }
                    ?? "crypto check reads the PHC strings and {SCHEME} forms that omvault crypto algs lists")
        }
    }

    /// - Throws: ``ExitStatus/unsupported`` if the stored hash names a scheme that omvault does not have.
    static func refuseUnknown(_ stored: Span<UInt8>) throws(Failure) {
        guard HashSchemes.isUnknown(in: stored) else { return }
        throw Failure(
            .unsupported, "omvault cannot check this scheme",
            hint: "the stored hash must have a scheme that omvault crypto check --help lists"
        ).with(sdkCode: CryptoError.schemeNotAllowed.sdkCode)
    }

    private static func begins(_ text: Span<UInt8>, with prefix: String) -> Bool {
        text.count >= prefix.utf8.count && prefix.utf8.enumerated().allSatisfy { text[$0.offset] == $0.element }
    }
}
