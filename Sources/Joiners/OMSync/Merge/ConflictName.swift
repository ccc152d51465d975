// The names of conflict copies, and of items whose name another item has. Format: docs/formats/sync.md, "Merge" and "Applying".

package import OMItems
internal import OMSecrets

extension ItemName {
    private static let prefix = Array("conflict-".utf8)

    /// The name without the prefix of a conflict, once.
    package var withoutConflictPrefix: ItemName {
        let bytes = self.bytes
        guard bytes.starts(with: Self.prefix), let blank = bytes.firstIndex(of: UInt8(ascii: " ")), blank + 1 < bytes.count
        else { return self }
        let digits = bytes[Self.prefix.count..<blank]
        guard [8, 16, 32].contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return self }
        return ItemName(checked: String(decoding: bytes[(blank + 1)...], as: UTF8.self))
    }

    /// `conflict-1f00a2b3 NAME`, cut to 255 bytes at the end of a code point.
    ///
    /// - Parameters:
    ///   - id: 16 bytes, of which the digits are.
    ///   - digits: 8, 16 or 32.
    package func withConflictPrefix(_ id: [UInt8], digits: Int = 8) -> ItemName {
        let hex = Hex.encode(Array(id.prefix(digits / 2)))
        var name = Self.prefix + Array("\(hex) ".utf8) + withoutConflictPrefix.bytes
        if name.count > 255 {
            var end = 255
            while name[end] & 0xC0 == 0x80 { end -= 1 }
            name.removeSubrange(end...)
        }
        return ItemName(checked: String(decoding: name, as: UTF8.self))
    }
}
