// The words of a search, and the parts of an item to search in.

internal import OMSecrets
package import OMSystem

/// Words that an item must all contain, each in its name, the names of its fields or their values.
///
/// Values in chunks are not searched. ASCII letters are the same in both cases. Everything else is compared as bytes. The
/// words are kept like secrets, because a user who searches for a password types it.
public struct ItemSearch: ~Copyable, Sendable {
    package static let maximumWords = 16
    /// The longest word, in bytes.
    package static let maximumWordCount = 1024

    /// The parts of an item to search in. A nil scope means everywhere.
    public struct Scope: Hashable, Sendable {
        package let hasItemName: Bool
        /// The fields whose values are searched. With them, the names of fields are not searched.
        package let fields: [FieldName]

        public init(itemName: Bool, fields: [FieldName]) { (hasItemName, self.fields) = (itemName, fields) }
    }

    package let scope: Scope?
    private var folded = SecretBuffer()
    private var ranges: [Range<Int>] = []

    public init(in scope: Scope? = nil) { self.scope = scope }

    package var wordCount: Int { ranges.count }

    /// Adds a word.
    ///
    /// - Returns: false if the word is empty or has more than 1024 bytes, or if there are 16 words already.
    public mutating func add(_ word: Span<UInt8>) -> Bool {
        guard (1...Self.maximumWordCount).contains(word.count), ranges.count < Self.maximumWords else { return false }
        let start = folded.count
        for index in word.indices { folded.append(Self.fold(word[index])) }
        ranges.append(start..<folded.count)
        return true
    }

    /// Whether a word has the form that ``add(_:)`` keeps: without ASCII capitals.
    package static func isFolded(_ word: Span<UInt8>) -> Bool {
        word.indices.allSatisfy { fold(word[$0]) == word[$0] }
    }

    /// Lends each word to `body`, in the form that is compared.
    package borrowing func forEach(_ body: (Span<UInt8>) -> Void) {
        folded.withBytes { words in for range in ranges { body(words.extracting(range)) } }
    }

    /// Whether `body` holds for every word, in the form that is compared.
    package borrowing func allSatisfy(_ body: (Span<UInt8>) -> Bool) -> Bool {
        folded.withBytes { words in ranges.allSatisfy { body(words.extracting($0)) } }
    }

    /// Whether a text has a word, which has the form that ``add(_:)`` keeps.
    ///
    /// - Parameter interruption: Once it is asked, the result means nothing.
    package static func contains(_ text: Span<UInt8>, _ word: Span<UInt8>, _ interruption: Interruption?) -> Bool {
        guard text.count >= word.count else { return false }
        let first = word[0]
        for start in 0...text.count - word.count {
            if start & 0xFFF == 0, interruption?.isAsked == true { return false }
            guard fold(text[start]) == first else { continue }
            var count = 1
            while count < word.count, fold(text[start + count]) == word[count] { count += 1 }
            if count == word.count { return true }
        }
        return false
    }

    @inline(__always)
    private static func fold(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
