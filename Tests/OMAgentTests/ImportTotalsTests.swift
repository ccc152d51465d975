// The bounds of a whole file, which both ends of an import count: docs/formats/import-reader.md.

import OMInterchange
import OMRecords
import OMSecrets
import Testing

@testable import OMAgent

@Suite("The bounds of an import's file") struct ImportTotalsTests {
    @Test("names have a bound over the whole file, and fields have one")
    func bounds() throws {
        var totals = ImportTotals()
        let entry = ForeignEntry(title: "a")
        for _ in 0..<64 { try totals.add(entry, head: 1 << 20) }
        #expect(totals.entries == 64)
        #expect(throws: InterchangeError.tooMuch("bytes of names")) { try totals.add(entry, head: 1) }
        var wide = ForeignEntry(title: "b")
        wide.fields = Array(
            repeating: ForeignField("n", .other, isConcealed: true, SecretBytes(copying: [])), count: 100_000)
        var others = ImportTotals()
        for _ in 0..<10 { try others.add(wide, head: 0) }
        #expect(throws: InterchangeError.tooMuch("fields")) { try others.add(wide, head: 0) }
    }

    @Test("more losses than a message can have are counted in its last one")
    func losses() throws {
        func sent(_ losses: [ForeignLoss]) throws -> [ForeignLoss] {
            let encoded = ImportReply.end(entries: 1, losses: losses, map: nil).encoded
            #expect(encoded.count <= ImportReply.maximumCount)
            guard case .end(_, let received, _) = try ImportReply(decoding: encoded.span) else { return [] }
            return received
        }
        let exact = (0..<1024).map { ForeignLoss.member("\($0)") }
        #expect(try sent(exact) == exact)
        let many = try sent(exact + [.icon, .unneeded("x")])
        #expect(many.count == 1024 && many.last == .more(3) && Array(many.dropLast()) == Array(exact.prefix(1023)))
        let long = try sent(Array(repeating: .member(String(repeating: "x", count: 4096)), count: 20))
        #expect(long.count == 16 && long.last == .more(5))
    }
}
