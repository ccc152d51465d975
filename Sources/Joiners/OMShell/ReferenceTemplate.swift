// Text with references in it: `{{ om://VAULT/ITEM/FIELD }}`.

/// A template, cut into text and references. Any other `{{` is text, so that templates of other tools pass as they are.
package struct ReferenceTemplate: Sendable {
    package enum Part: Hashable, Sendable {
        /// Bytes of the template as they are.
        case text(Range<Int>)
        case reference(ValueReference, line: Int)
    }

    package let parts: [Part]

    /// - Throws: ``ExitStatus/usage`` with the number of the line, if what begins as a reference is none.
    package init(_ bytes: Span<UInt8>) throws(Failure) {
        var parts: [Part] = []
        var (start, place, line) = (0, 0, 1)
        while place < bytes.count {
            guard let found = try Self.reference(at: place, in: bytes, line) else {
                if bytes[place] == UInt8(ascii: "\n") { line += 1 }
                place += 1
                continue
            }
            if start < place { parts.append(.text(start..<place)) }
            parts.append(.reference(found.reference, line: line))
            (start, place) = (found.end, found.end)
        }
        if start < bytes.count { parts.append(.text(start..<bytes.count)) }
        self.parts = parts
    }

    private static func reference(
        at place: Int, in bytes: Span<UInt8>, _ line: Int
    ) throws(Failure) -> (reference: ValueReference, end: Int)? {
        guard holds("{{", at: place, in: bytes) else { return nil }
        var start = place + 2
        while start < bytes.count, isBlank(bytes[start]) { start += 1 }
        guard holds(ValueReference.scheme, at: start, in: bytes) else { return nil }
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\n"), !holds("}}", at: end, in: bytes) { end += 1 }
        guard holds("}}", at: end, in: bytes) else {
            throw Failure(
                .usage, "line \(line): a reference has no }} on its line", hint: "write {{ om://VAULT/ITEM/FIELD }}")
        }
        var last = end
        while isBlank(bytes[last - 1]) { last -= 1 }
        let text = bytes.extracting(start..<last)
        guard let reference = String(validating: text.indices.map { text[$0] }, as: UTF8.self) else {
            throw Failure(.usage, "line \(line): a reference is not UTF-8", hint: "write {{ om://VAULT/ITEM/FIELD }}")
        }
        do throws(Failure) { return (try ValueReference(reference), end + 2) } catch {
            throw error.inLine(line)
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

    private static func holds(_ text: String, at place: Int, in bytes: Span<UInt8>) -> Bool {
        guard place + text.utf8.count <= bytes.count else { return false }
        return text.utf8.enumerated().allSatisfy { bytes[place + $0] == $1 }
    }
}
