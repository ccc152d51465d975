/// Why an entry does not continue a roll.
package enum RollProblem: UInt8, Error, Hashable, Sendable {
    case malformed = 1
    /// A version or kind that this omvault does not know.
    case laterFormat
    /// Another vault, another number, or another entry before it.
    case doesNotFollow
    case unknownSigner
    case wrongSignature
    /// A number or key that the roll has seen, or that cannot be one.
    case badMember
    /// The kind does not allow these members, wraps, epoch or anchor.
    case brokenRule
    /// More than 32 members, 4,096 entries or 2 MiB.
    case tooLarge
}
