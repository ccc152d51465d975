// Passwords made by chance. Each recipe knows how many results it has; all of them are equally likely.

public import OMSecrets

/// How to make a password.
///
///     let recipe = try CharacterRecipe(.standard, length: 20)
///     let password = recipe.password()   // one of 64^20: recipe.entropy is 120
public protocol PasswordRecipe: Sendable {
    /// The base-2 logarithm of the number of results, all of which are equally likely and different.
    var entropy: Double { get }

    func password() -> SecretBytes
}

/// The least count whose entropy is enough.
///
/// - Returns: Nil if more than `maximum` are needed.
func smallestCount(reaching bits: Double, maximum: Int, entropy: (Int) -> Double) -> Int? {
    (1...maximum).first { entropy($0) >= bits }
}
