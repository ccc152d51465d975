// One-line warnings for algorithms and passwords that are too weak for new data. Algorithms that need --insecure are not here.

internal import OMCrypto
internal import OMSecrets
internal import OMShell

extension Output {
    /// - Parameter safe: The option with the algorithm to use instead.
    func warn(ofUsing algorithm: DigestAlgorithm, instead safe: String) {
        guard algorithm.isInsecure else { return }
        notice("warning: \(algorithm.sdkName) is broken as a hash function; use \(safe) for anything new")
    }

    /// Warns of a password hash with too little work or a broken hash function.
    func warn(ofWork function: PasswordFunction) {
        if case .pbkdf2(let algorithm, _) = function { warn(ofUsing: algorithm, instead: "--hash sha256") }
        if function.isWeak { notice("warning: this little work does not protect a password") }
    }

    /// Warns of a password that an attacker with the file soon has.
    func warn(ofNew password: borrowing Password) {
        guard let bits = PasswordStrength.bits(of: password.bytes, knowing: GuessedWords()), bits < Double(PasswordStrength.weak)
        else { return }
        notice(
            "warning: this password is easy to guess: about \(Int(bits).of("bit")), and \(PasswordStrength.weak) are better; "
                + "omvault gen --words 5 makes one")
    }
}
