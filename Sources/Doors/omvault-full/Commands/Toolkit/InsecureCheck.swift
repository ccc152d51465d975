// Checks for keys and hashes that may be made only with --insecure. Reading them needs no flag.

internal import OMCrypto
internal import OMShell

enum InsecureCheck {
    /// - Throws: ``ExitStatus/unsafeAlgorithm`` for RSA below 2048 bits.
    static func check(_ kind: KeyKind) throws(Failure) {
        guard case .rsa(let bits) = kind, bits < 2048 else { return }
        throw Failure(
            .unsafeAlgorithm, "an RSA key of \(bits) bits can be broken",
            hint: "use a key of 2048 bits or more, or add --insecure for interoperability")
    }

    /// - Throws: ``ExitStatus/unsafeAlgorithm`` for MD5. SHA-1 gets a warning where it is used.
    static func check(_ hash: DigestAlgorithm) throws(Failure) {
        guard hash == .insecureMD5 else { return }
        throw Failure(
            .unsafeAlgorithm, "MD5 is broken: an attacker makes two messages with the same digest within seconds",
            hint: "use sha256, or add --insecure for interoperability")
    }
}
