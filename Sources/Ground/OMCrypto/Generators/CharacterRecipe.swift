internal import Glibc
public import OMSecrets

/// A password of characters, each chosen by itself.
public struct CharacterRecipe: PasswordRecipe {
    public let characters: PasswordCharacters
    public let length: Int

    public static let lengthRange = 1...1024

    /// - Throws: ``PasswordRecipeError/lengthOutOfRange``.
    public init(_ characters: PasswordCharacters = .standard, length: Int = 20) throws(PasswordRecipeError) {
        guard Self.lengthRange.contains(length) else { throw .lengthOutOfRange }
        (self.characters, self.length) = (characters, length)
    }

    /// The shortest with this entropy.
    ///
    /// - Throws: ``PasswordRecipeError/entropyOutOfRange``.
    public init(_ characters: PasswordCharacters = .standard, reaching bits: Double) throws(PasswordRecipeError) {
        let length = smallestCount(reaching: bits, maximum: Self.lengthRange.upperBound) {
            Self.entropy(characters, length: $0)
        }
        guard let length else { throw .entropyOutOfRange }
        try self.init(characters, length: length)
    }

    public var entropy: Double { Self.entropy(characters, length: length) }

    public func password() -> SecretBytes {
        SecretBytes(count: length) { password in
            for position in password.indices { password[position] = characters.random() }
        }
    }

    private static func entropy(_ characters: PasswordCharacters, length: Int) -> Double {
        Double(length) * log2(Double(characters.ascii.count))
    }
}
