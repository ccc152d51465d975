/// Why a recipe for passwords was refused.
@nonexhaustive
public enum PasswordRecipeError: Error, Hashable, Sendable {
    /// A set of characters that is not written as `a-z0-9_`, or has other characters than printable ASCII.
    case malformedCharacters
    /// A choice among fewer than two characters or words.
    case nothingToChoose
    /// A length, or a number of words, that is 0 or too large.
    case lengthOutOfRange
    /// No length that is allowed reaches this entropy.
    case entropyOutOfRange
    /// A line of a word list that is not one word, by its number.
    case malformedWord(line: Int)
    /// A word list with a word twice.
    case doubledWord
    /// A separator that is not text.
    case malformedSeparator
    /// Two choices of words would give the same passphrase, such as `in put` and `input` without a separator.
    case ambiguousSeparator
}
