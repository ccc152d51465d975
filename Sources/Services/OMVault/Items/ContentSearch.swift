// Looking for the words of a search in an item's content.

internal import OMItems
internal import OMSecrets
internal import OMSystem

extension ItemSearch {
    /// - Parameter interruption: Checked during the search, because a long word in a long text takes a while. Once it
    ///   is asked, the result means nothing.
    borrowing func matches(_ map: ContentMap, _ content: Span<UInt8>, unless interruption: Interruption?) -> Bool {
        allSatisfy { isFound($0, in: content, map, unless: interruption) }
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
}
