// The words of a search, and the parts of an item to search in.

internal import OMSecrets
internal import OMSystem

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

    /// - Parameter interruption: Checked during the search, because a long word in a long text takes a while. Once it
    ///   is asked, the result means nothing.
    borrowing func matches(_ map: ContentMap, _ content: Span<UInt8>, unless interruption: Interruption?) -> Bool {
        folded.withBytes { words in
            ranges.allSatisfy { range in
                isFound(words.extracting(range), in: content, map, unless: interruption)
            }
        }
    }

    /// The number of values in chunks that a search of this item would have to read.
    borrowing func unsearched(_ map: ContentMap, _ content: Span<UInt8>) -> Int {
        guard map.hasFlags else { return 0 }
        var count = 0
        map.forEachField(in: content) { field in
            let isWanted = scope.map { $0.fields.contains { Self.isName($0, content.extracting(field.name)) } } ?? true
            if field.isChunked, isWanted { count += 1 }
            return true
        }
        return count
    }

    private borrowing func isFound(
        _ word: Span<UInt8>, in content: Span<UInt8>, _ map: ContentMap, unless interruption: Interruption?
    ) -> Bool {
        if scope?.hasItemName != false, Self.contains(content.extracting(map.name), word, interruption) { return true }
        guard scope?.fields.isEmpty != true else { return false }
        var isFound = false
        map.forEachField(in: content) { field in
            let name = content.extracting(field.name)
            switch scope {
            case .none: isFound = Self.contains(name, word, interruption)
            case .some(let scope): guard scope.fields.contains(where: { Self.isName($0, name) }) else { return true }
            }
            if !isFound { isFound = Self.contains(content.extracting(field.value), word, interruption) }
            return !isFound
        }
        return isFound
    }

    private static func isName(_ field: FieldName, _ bytes: Span<UInt8>) -> Bool {
        field.text.utf8.count == bytes.count && field.text.utf8.enumerated().allSatisfy { bytes[$0.offset] == $0.element }
    }

    private static func contains(_ text: Span<UInt8>, _ word: Span<UInt8>, _ interruption: Interruption?) -> Bool {
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
