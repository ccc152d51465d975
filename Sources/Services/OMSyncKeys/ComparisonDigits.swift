package import OMParcels
internal import OMSecrets

/// Digits that are the same on two devices if both saw the same state of a remote: `sync status --compare`.
/// Format: docs/formats/sync.md, "Head".
package enum ComparisonDigits {
    /// Twelve groups of five digits, with blanks between them.
    ///
    /// - Parameters:
    ///   - vault: The vault's id. The id and the incarnation have 16 bytes.
    ///   - heads: The newest accepted head of each present member, in any order.
    ///   - rollDigest: That of the last entry: 32 bytes.
    package static func digits(
        vault: [UInt8], incarnation: [UInt8], heads: [Head.Reference], rollDigest: [UInt8]
    ) -> String {
        let list = PublicHash.hash(heads.sorted { $0.device < $1.device }.flatMap(\.encoded))
        let context = Context(.syncCompare, .bytes(vault), .bytes(incarnation), .bytes(list), .bytes(rollDigest))
        let hash = PublicHash.longHash(context)
        return (0..<12).map { group in
            let number = hash[group * 5..<group * 5 + 5].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 100_000
            let digits = String(number)
            return String(repeating: "0", count: 5 - digits.count) + digits
        }.joined(separator: " ")
    }
}
