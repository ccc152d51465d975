// Reports of exchanges, and how far an exchange is.

import OMItems
import OMParcels
import OMRecords
import OMRemote
import Testing

@testable import OMSync
@testable import OMVault

@Suite("Reports of exchanges") struct SyncReportTests {
    /// A report in which no part has its first value.
    private static let full: SyncReport = {
        var report = SyncReport()
        report.pull.notAccepted = [1: .waits, 2: .isClone, 3: .isForked, 4: .isDisputed, 5: .isRolledBack, 6: .isRefused]
        (report.pull.isStopped, report.pull.isRemoved, report.pull.needsLaterVersion) = (true, true, true)
        (report.pull.losesCode, report.pull.lostEntries) = (true, [7, 8])
        report.pull.forgers = [1: [9, 10], 2: [11]]
        (report.pull.written, report.pull.braked, report.pull.waiting, report.pull.held) = (12, 13, 14, 15)
        (report.pull.unreadable, report.pull.malformed, report.pull.unreadPacks) = (16, 17, [18: 19])
        (report.push.parcels, report.push.bytes, report.push.hasMore, report.push.skipped) = (20, 1 << 40, true, 21)
        return report
    }()

    @Test("the bytes of a report keep each part of it")
    func bytes() throws {
        // A part that this test does not know is missing in the bytes too.
        #expect(Mirror(reflecting: Self.full.pull).children.count == 14 && Mirror(reflecting: Self.full.push).children.count == 4)
        #expect(try SyncReport(decoding: Self.full.encoded) == Self.full)
        #expect(try SyncReport(decoding: SyncReport().encoded) == SyncReport())
    }

    @Test("bytes that no report has are refused: cut anywhere, with more behind them, an unknown flag or decision")
    func malformed() {
        let bytes = Self.full.encoded
        for count in bytes.indices {
            #expect(throws: MalformedBytes.self) { try SyncReport(decoding: Array(bytes.prefix(count))) }
        }
        #expect(throws: MalformedBytes.self) { try SyncReport(decoding: bytes + [0]) }
        #expect(throws: MalformedBytes.self) { try SyncReport(decoding: [32] + bytes.dropFirst()) }
        var decision = bytes
        decision[1 + 8 * 4 + 8 + 2 + 4] = 8
        #expect(throws: MalformedBytes.self) { try SyncReport(decoding: decision) }
    }

    /// Files in memory.
    private final class Files: RemoteStore {
        var all: [RemoteFile: [UInt8]] = [:]

        func files() throws(VaultError) -> [RemoteFile] { Array(all.keys) }
        func bytes(of file: RemoteFile) throws(VaultError) -> [UInt8]? { all[file] }
        func write(_ bytes: [UInt8], to file: RemoteFile) throws(VaultError) { all[file] = bytes }
        func remove(_ file: RemoteFile) throws(VaultError) -> Bool { all.removeValue(forKey: file) != nil }
    }

    @Test("of the packs those count that another device wrote and that are new here")
    func observed() throws {
        let files = Files()
        let known = RemoteFile.pack(device: 1, number: 1), own = RemoteFile.pack(device: 7, number: 1)
        for file in [known, own, .pack(device: 1, number: 2), .pack(device: 2, number: 1), .founding] {
            files.all[file] = [1, 2]
        }
        var amount = TransferState()
        let store = TransferStore(files, known: [known], device: 7) { amount = $0 }
        _ = try store.files()
        #expect(amount.toRead == 2)
        for file in files.all.keys { _ = try store.bytes(of: file) }
        #expect(amount.read == 2 && amount.toRead == 2 && amount.bytesRead == 4)
        _ = try store.bytes(of: .pack(device: 2, number: 1))
        #expect(amount.read == 2 && amount.bytesRead == 4, "the same again")
        _ = try store.bytes(of: .pack(device: 3, number: 1))
        #expect(amount.read == 3 && amount.toRead == 3, "a pack came later")
        try store.write([1, 2, 3], to: .pack(device: 7, number: 2))
        try store.write([1, 2, 3], to: .head(device: 7, isSecond: false))
        #expect(amount.bytesWritten == 3)
    }
}
