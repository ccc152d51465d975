import Foundation
import OMItems
import OMParcels
import OMSecrets
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

@Suite("Many items") struct ManyItemsTests {
    /// For the figures: `OMVAULT_WHOLE=1` prints time and bytes of 10,000 items to a fresh device.
    @Test("a new device gets thousands of items, and one edit sends one parcel of at most 2 KiB with its head")
    func fresh() throws {
        let count = Sweep.count(10_000, sample: 300)
        var times: [ContinuousClock.Instant] = []
        let synced = try SyncedHomes(2) { home in
            try home.edit { edit throws(VaultError) in
                for index in 0..<count {
                    try edit.add(ItemName("item \(index)"), level: nil) { draft throws(VaultError) in
                        try draft.put(SecretBytes(copying: Array("user \(index)".utf8)), at: FieldName("user"))
                        try draft.put(SecretBytes(copying: [UInt8](repeating: 7, count: 24)), at: FieldName("password"))
                        try draft.put(SecretBytes(copying: Array("https://example.org/\(index)".utf8)), at: FieldName("url"))
                    }
                }
            }
            times.append(.now)
        }
        times.append(.now)
        let (a, b) = (synced.homes[0], synced.homes[1])
        #expect(try b.unlock().items().count == count)
        try b.put("item 7", "changed")
        let report = try b.sync()
        #expect(report.push.parcels == 1 && report.push.bytes <= 2048)
        #expect(try a.sync().pull.written == 1)
        if Sweep.isWhole {
            let bytes = try synced.parcels().reduce(0) { $0 + $1.parcel.encoded.count }
            print(
                "\(count) items: \(times[1] - times[0]) for both devices, \(bytes) bytes of parcels, one edit \(report.push.bytes) bytes"
            )
        }
    }
}
