// One line for what is done and should not be done anew. What is refused without --insecure is not here.

internal import OMCrypto

extension Output {
    /// - Parameter safe: the option that names what to take.
    func warn(ofUsing algorithm: DigestAlgorithm, instead safe: String) {
        guard algorithm.isInsecure else { return }
        notice("warning: \(algorithm.sdkName) is broken as a hash function; use \(safe) for anything new")
    }

    /// Of a password: too little work, a broken hash, no salt.
    func warn(ofWork function: PasswordFunction) {
        if case .pbkdf2(let algorithm, _) = function { warn(ofUsing: algorithm, instead: "--hash sha256") }
        if function.isWeak { notice("warning: this little work does not protect a password") }
    }
}
