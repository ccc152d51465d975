// Stored hashes from an unknown directory or database.

import OMCrypto
import OMSecrets

enum HashTargets {
    static let all = [
        FuzzTarget(name: "hash-strings") { bytes in
            guard let text = String(validating: bytes, as: UTF8.self) else { return }
            guard let hash = try? StoredHash(parsing: text) else { return }
            _ = try? hash.matches(SecretBytes(copying: bytes))
        },
        // Only hashes that cost almost nothing are computed.
        FuzzTarget(name: "password-hashes") { bytes in
            guard let text = String(validating: bytes, as: UTF8.self) else { return }
            _ = try? PasswordHash(parsing: text)
            var checker = HashChecker(schemes: (try? HashSchemes(list: "salted,unsalted")) ?? .standard)
            _ = checker.check(pairs: bytes.span)
        },
    ]
}
