internal import Glibc
public import OMSecrets

/// A password to read aloud: consonants and vowels in turn, in groups of six letters, such as `vokida-mesoru`.
///
/// The dashes are always at the same places, so they add nothing to the entropy.
public struct PronounceableRecipe: PasswordRecipe {
    /// The number of letters.
    public let length: Int

    public static let lengthRange = 1...1024
    /// Without letters that sound like others: c, q, w, x and y.
    private static let consonants = Array("bdfghjklmnprstvz".utf8)
    private static let vowels = Array("aeiou".utf8)
    private static let groupLength = 6

    /// - Throws: ``PasswordRecipeError/lengthOutOfRange``.
    public init(length: Int = 24) throws(PasswordRecipeError) {
        guard Self.lengthRange.contains(length) else { throw .lengthOutOfRange }
        self.length = length
    }

    /// The shortest with this entropy.
    ///
    /// - Throws: ``PasswordRecipeError/entropyOutOfRange``.
    public init(reaching bits: Double) throws(PasswordRecipeError) {
        let length = smallestCount(reaching: bits, maximum: Self.lengthRange.upperBound, entropy: Self.entropy)
        guard let length else { throw .entropyOutOfRange }
        try self.init(length: length)
    }

    public var entropy: Double { Self.entropy(length: length) }

    public func password() -> SecretBytes {
        var password = SecretBuffer(capacity: length * 2)
        for position in 0..<length {
            if position > 0, position % Self.groupLength == 0 { password.append(UInt8(ascii: "-")) }
            let letters = position % 2 == 0 ? Self.consonants : Self.vowels
            password.append(letters[Random.index(below: letters.count)])
        }
        return password.finish()
    }

    private static func entropy(length: Int) -> Double {
        let vowelCount = length / 2
        return Double(length - vowelCount) * log2(Double(consonants.count)) + Double(vowelCount) * log2(Double(vowels.count))
    }
}
