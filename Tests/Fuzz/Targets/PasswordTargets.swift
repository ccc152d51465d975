// One-time passwords and word lists, as a user copies them from a site or from the web.

import OMCrypto
import OMSecrets

enum PasswordTargets {
    static let all = [
        // What is read must be written, and read again as the same password.
        FuzzTarget(name: "otpauth-uri", seeds: { seeds }) { bytes in
            guard let uri = try? OTPAuthURI(readingURIOrSecret: SecretBytes(copying: bytes)) else { return }
            guard let again = try? OTPAuthURI(reading: uri.text()) else { preconditionFailure("a URI is not read again") }
            precondition(again.password.secret.isEqual(to: uri.password.secret), "another secret is written")
            precondition(
                again.password.hash == uri.password.hash && again.password.digits == uri.password.digits
                    && again.password.factor == uri.password.factor, "other settings are written")
            _ = try? uri.password.code(at: 0)
        },
        FuzzTarget(name: "word-list") { bytes in
            guard let list = try? WordList(bytes.span), let recipe = try? WordRecipe(list, count: 2) else { return }
            _ = recipe.password()
        },
    ]

    private static let seeds = [
        "JBSW Y3DP EHPK 3PXP", "otpauth://hotp/a?secret=JBSWY3DPEHPK3PXP&counter=1",
        "otpauth://totp/A%20B:c@d?secret=JBSWY3DPEHPK3PXP&issuer=A%20B&algorithm=SHA512&digits=8&period=60",
    ].map { Array($0.utf8) }
}
