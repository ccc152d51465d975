// The names of conflict copies, and of items whose name another item has. Format: docs/formats/sync.md, "Merge" and "Applying".

package import OMItems

extension ItemName {
    private static var prefix: String { "conflict-" }

    /// The name without the prefix of a conflict, once.
    package var withoutConflictPrefix: ItemName {
        guard text.hasPrefix(Self.prefix) else { return self }
        let rest = text.dropFirst(Self.prefix.count)
        guard let blank = rest.firstIndex(of: " ") else { return self }
        let digits = rest[..<blank].utf8
        guard [8, 16, 32].contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return self }
        let name = rest[rest.index(after: blank)...]
        return name.isEmpty ? self : ItemName(checked: String(name))
    }

    /// `conflict-1f00a2b3 NAME`, cut at a letter to 255 bytes.
    ///
    /// - Parameters:
    ///   - id: The id of the item that gets the name: 16 bytes.
    ///   - digits: 8, 16 or 32.
    package func withConflictPrefix(_ id: [UInt8], digits: Int = 8) -> ItemName {
        var name =
            Self.prefix
            + id.prefix(digits / 2).map { byte in
                String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            }.joined() + " " + withoutConflictPrefix.text
        while name.utf8.count > 255 { name.removeLast() }
        return ItemName(checked: name)
    }
}
