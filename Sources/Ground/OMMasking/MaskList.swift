// The values that an output must not show, in all forms that are looked for.

package import OMSecrets

/// Collects values for a ``Mask``.
///
///     var list = MaskList()
///     list.add(password, marker: "<concealed:DB_PASS>")
///     let mask = list.mask()
package struct MaskList: ~Copyable, Sendable {
    /// The shortest value that is looked for, in bytes. Shorter ones are in every text.
    package static let minimumCount = 4

    /// The longest value that is looked for within the base64 of a longer text, in bytes.
    private static let longestWithin = 4096
    /// Fewer characters of base64 are in many texts.
    private static let minimumWithin = 6

    private var bytes = SecretBuffer(capacity: 4096)
    private var places: [Mask.Place] = []
    private var markers: [[UInt8]] = []

    package init() {}

    package var isEmpty: Bool { places.isEmpty }

    /// Adds a value: as it is without the newlines at its end, as a JSON string has it, with percent signs, and in base64, also of a
    /// longer text.
    ///
    /// - Parameter marker: The text in its place.
    /// - Returns: Whether it is long enough.
    @discardableResult
    package mutating func add(_ value: borrowing SecretBytes, marker: String) -> Bool {
        value.withBytes { value in
            let value = value.extracting(0..<Self.countWithoutNewlines(value))
            guard value.count >= Self.minimumCount else { return false }
            markers.append(Array(marker.utf8))
            keep { $0.append(value) }
            if ValueForm.json.changes(value) { keep { ValueForm.json.append(value, to: &$0) } }
            if ValueForm.percent.changes(value) { keep { ValueForm.percent.append(value, to: &$0) } }
            let encoded = Base64.encode(SecretBytes(copying: value), .unpadded)
            let fill = (3 - value.count % 3) % 3
            encoded.withBytes { encoded in
                keep { $0.append(encoded) }
                // The longer one is found where both are there.
                if fill > 0 {
                    keep { buffer in
                        buffer.append(encoded)
                        for _ in 0..<fill { buffer.append(UInt8(ascii: "=")) }
                    }
                }
                if ValueForm.base64URL.changes(encoded) { keep { ValueForm.base64URL.append(encoded, to: &$0) } }
            }
            if value.count <= Self.longestWithin { for offset in 0..<3 { keepWithin(value, at: offset) } }
            return true
        }
    }

    /// What finds the values that were added up to now.
    package borrowing func mask() -> Mask {
        bytes.withBytes { Mask(SecretBytes(copying: $0), places, markers) }
    }

    /// Base64 of a longer text in which the value is: the characters that it alone decides. A header with a user and a
    /// password has one.
    ///
    /// - Parameter offset: How many bytes of the text are in front of it in its group of three.
    private mutating func keepWithin(_ value: Span<UInt8>, at offset: Int) {
        var text = SecretBuffer(capacity: value.count + offset)
        for _ in 0..<offset { text.append(0) }
        text.append(value)
        let encoded = Base64.encode(text.finish(), .unpadded)
        let first = offset == 0 ? 0 : offset + 1
        let isWhole = (offset + value.count) % 3 == 0
        encoded.withBytes { encoded in
            let end = isWhole ? encoded.count : encoded.count - 1
            guard end - first >= Self.minimumWithin else { return }
            let sure = encoded.extracting(first..<end)
            keep { $0.append(sure) }
            if ValueForm.base64URL.changes(sure) { keep { ValueForm.base64URL.append(sure, to: &$0) } }
        }
    }

    private mutating func keep(_ write: (inout SecretBuffer) -> Void) {
        let start = bytes.count
        write(&bytes)
        places.append(Mask.Place(start: start, count: bytes.count - start, marker: markers.count - 1))
    }

    private static func countWithoutNewlines(_ value: Span<UInt8>) -> Int {
        var count = value.count
        while count > 0, value[count - 1] == UInt8(ascii: "\n") || value[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        return count
    }
}
