package import OMParcels

/// Why a recovery code does not open a remote.
package enum RecoveryProblem: Error, Hashable, Sendable {
    /// There is no remote, or its first entry has not arrived.
    case notMounted
    /// The roll has no recovery code, or another one.
    case otherCode
    /// Attack: a remote shows a roll that it made itself, with the right public keys of the code.
    case notAnchored
    /// Two entries of one number exclude each other, and the user has not chosen one.
    case undecided([RollEntry])
    case badRoll(RollProblem)
}
