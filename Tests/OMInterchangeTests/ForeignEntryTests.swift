// The values that readers make and writers take.

import OMSecrets
import Testing

@testable import OMInterchange

@Suite("Entries of other programs") struct ForeignEntryTests {
    @Test("an entry begins with its title alone, and a field keeps its bytes") func entry() {
        var entry = ForeignEntry(title: "a/b: c")
        #expect(entry.fields.isEmpty && entry.folders.isEmpty && !entry.isTrashed && entry.type == nil)
        entry.fields.append(ForeignField("", .password, isConcealed: true, SecretBytes(copying: [0, 255])))
        let isSame = entry.fields[0].value.isEqual(to: SecretBytes(copying: [0, 255]))
        #expect(isSame)
    }
}
