// One-line warnings for algorithms that are too weak for new data. Algorithms that need --insecure are not here.

internal import OMCrypto

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
}
