// The records that leave the device: never a record of a device-only level.

import Foundation
import OMRecords
import OMSecrets
import OMStorage
import Testing

@testable import OMVault

@Suite struct PortableRecordTests {
    @Test(
        "R41 a device-only record cannot be encoded for another device, and such an encoding is refused",
        arguments: ProtectionLevel.allCases)
    func levels(level: ProtectionLevel) throws {
        for isDeleted in [false, true] {
            let record = Record(
                header: Record.Header(
                    level: level, isDeleted: isDeleted, id: Random.bytes(16), revision: 1, epoch: 1, parent: nil,
                    salt: Random.bytes(16)), box: Random.bytes(40 + 256))
            #expect((PortableRecord(record) == nil) == level.isDeviceOnly)
            if level.isDeviceOnly {
                #expect(throws: MalformedBytes.self) { _ = try PortableRecord(decoding: record.stored) }
            } else {
                #expect(try PortableRecord(decoding: record.stored).encoded == record.stored)
            }
        }
    }

    @Test("R41 a vault's records for another device have nothing of a device-only item")
    func bytes() throws {
        let site = try BackupHome(items: 40)
        let database = try VaultSchema.open(site.home.vault)
        var find = try database.prepare("SELECT body FROM records")
        var (sent, bound, all): (Data, [Record], Data) = (Data(), [], Data())
        while try find.step() {
            let record = try Record(decoding: find.bytes(0))
            all += record.stored
            if let portable = PortableRecord(record) { sent += portable.encoded } else { bound.append(record) }
        }
        find.reset()
        // Two versions of each of three items, and an item in the trash.
        #expect(bound.count == 8 && bound.allSatisfy { [0x11, 0x12, 0x13].contains($0.header.level.code) })
        for record in bound {
            for (name, part) in [("id", record.header.id), ("salt", record.header.salt), ("box", record.box)] {
                // The scan finds them in the vault.
                #expect(all.firstRange(of: Data(part)) != nil, "\(name)")
                #expect(sent.firstRange(of: Data(part)) == nil, "\(name) of revision \(record.header.revision)")
            }
        }
        #expect(sent.count > 40 * 376)
    }
}
