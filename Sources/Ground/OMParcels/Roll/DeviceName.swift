package import OMRecords

/// What its user calls a device: 1 to 63 bytes of UTF-8, without control characters. Format: docs/formats/sync.md, "Roll".
package struct DeviceName: Hashable, Sendable {
    package static let maximumCount = 63

    package let text: String

    package init?(_ text: String) {
        // Attack: a name with control characters changes what a terminal shows of the others.
        guard (1...Self.maximumCount).contains(text.utf8.count),
            !text.unicodeScalars.contains(where: {
                $0.properties.generalCategory == .control || $0.properties.generalCategory == .format
            })
        else { return nil }
        self.text = text
    }

    /// length (1) ‖ name
    package var counted: [UInt8] { [UInt8(text.utf8.count)] + text.utf8 }

    /// What a member's box has: length (1) ‖ name ‖ zeros up to 64 bytes.
    package var padded: [UInt8] { counted + [UInt8](repeating: 0, count: Self.maximumCount + 1 - counted.count) }

    init(_ cursor: inout ByteCursor, in span: Span<UInt8>) throws(MalformedBytes) {
        guard let name = DeviceName(try cursor.text(Int(try cursor.number(UInt8.self, in: span)), in: span)) else {
            throw MalformedBytes()
        }
        self = name
    }

    package init(decodingPadded span: Span<UInt8>) throws(MalformedBytes) {
        var cursor = ByteCursor()
        self = try DeviceName(&cursor, in: span)
        guard span.count == Self.maximumCount + 1, (cursor.offset..<span.count).allSatisfy({ span[$0] == 0 }) else {
            throw MalformedBytes()
        }
    }
}
