/// One of two places for the secret of a file of this boot.
///
/// A new file is written under a new secret in the place that the present file does not use. A process that is killed
/// meanwhile leaves the present file or the new one, each with its secret.
enum SecretPlace: UInt8 {
    case first = 0
    case second = 1

    var other: SecretPlace { self == .first ? .second : .first }
}
