internal import Glibc
public import OMSecrets

/// A passphrase: words of a list, each chosen by itself, with a separator between them.
public struct WordRecipe: PasswordRecipe {
    public let list: WordList
    public let count: Int
    public let separator: String

    public static let countRange = 1...100

    /// - Throws: ``PasswordRecipeError/lengthOutOfRange``, ``PasswordRecipeError/malformedSeparator``,
    ///   ``PasswordRecipeError/ambiguousSeparator``.
    public init(_ list: WordList, count: Int = 6, separator: String = "-") throws(PasswordRecipeError) {
        guard Self.countRange.contains(count) else { throw .lengthOutOfRange }
        guard WordList.isText(Array(separator.utf8)[...]) else { throw .malformedSeparator }
        guard count == 1 || list.isPrefixFree || Self.marksEnds(separator, list) else { throw .ambiguousSeparator }
        (self.list, self.count, self.separator) = (list, count, separator)
    }

    /// As few words as have this entropy.
    ///
    /// - Throws: ``PasswordRecipeError/entropyOutOfRange``, and as above.
    public init(_ list: WordList, reaching bits: Double, separator: String = "-") throws(PasswordRecipeError) {
        let count = smallestCount(reaching: bits, maximum: Self.countRange.upperBound) { Self.entropy(list, count: $0) }
        guard let count else { throw .entropyOutOfRange }
        try self.init(list, count: count, separator: separator)
    }

    public var entropy: Double { Self.entropy(list, count: count) }

    public func password() -> SecretBytes {
        var password = SecretBuffer()
        for position in 0..<count {
            if position > 0 { password.append(Array(separator.utf8).span) }
            let word = list.words[Random.index(below: list.words.count)]
            password.append(word.span)
        }
        return password.finish()
    }

    /// Whether each word ends at the first byte of the separator, because no word has that byte.
    private static func marksEnds(_ separator: String, _ list: WordList) -> Bool {
        guard let first = separator.utf8.first else { return false }
        return !list.words.contains { $0.contains(first) }
    }

    private static func entropy(_ list: WordList, count: Int) -> Double { Double(count) * log2(Double(list.words.count)) }
}
