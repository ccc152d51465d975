import Foundation
import OMItems
import OMParcels
import OMRecords
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

@Suite("Devices whose files are carried in any order")
struct CarriedFilesTests {
    @Test(
        "files that arrive late, twice, in any order or half-written stop nothing, and all devices end with the same items",
        arguments: 0..<Sweep.count(60, sample: 4))
    func anyOrder(seed: Int) throws {
        var random = ModelRandom(state: UInt64(seed))
        let synced = try SyncedHomes(3) { home in for index in 0..<3 { try home.add("item \(index)", "first \(index)") } }
        let folders = try synced.homes.map { _ in try TestFolder() }
        let carried = CarriedFolder(
            paths: folders.map(\.path), owners: try synced.homes.map { String(format: "%08x", try $0.number()) })
        for folder in folders { try carryAll(from: synced.remote.path, to: folder.path) }
        var added: Set<String> = []
        for step in 0..<30 {
            let device = random.below(3)
            let home = synced.homes[device]
            home.now += Int64(random.below(100))
            switch random.below(5) {
            case 0:
                try home.add("new \(step)", "of \(step)")
                added.insert("of \(step)")
            case 1: try home.put("item \(random.below(3))", "value \(step)")
            case 2: #expect(try !isStopped(home, in: folders[device].path), "step \(step)")
            default:
                let (share, torn, target) = (random.below(101), random.below(20), (device + 1 + random.below(2)) % 3)
                var (choice, tear) = (random, random)
                try carried.carry(from: device, to: target) { _ in
                    choice.chance(share)
                } isTorn: { _ in
                    tear.chance(torn)
                }
                random = choice
            }
        }
        for folder in folders { try whole(from: synced.remote.path, to: folder.path) }
        for _ in 0..<4 {
            for (device, home) in synced.homes.enumerated() {
                for target in 0..<3 where target != device { try carried.carry(from: device, to: target) { _ in true } }
                #expect(try !home.sync(in: folders[device].path).pull.isStopped)
                for target in 0..<3 where target != device { try carried.carry(from: device, to: target) { _ in true } }
            }
        }
        let values = try synced.homes.map { try $0.values() }
        #expect(values[0] == values[1] && values[1] == values[2])
        #expect(added.isSubset(of: values[0].values))
    }

    private func isStopped(_ home: SyncedHome, in path: String) throws -> Bool {
        do { return try home.sync(in: path).pull.isStopped } catch RemoteNews.Problem.notMounted {
            // The founding entry is half-written now.
            return false
        }
    }

    /// Puts the founding entry back whole, as a tool that goes on does.
    private func whole(from source: String, to target: String) throws {
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: source).first)
        try Data(contentsOf: URL(filePath: "\(source)/\(name)/remote")).write(to: URL(filePath: "\(target)/\(name)/remote"))
    }

    private func carryAll(from source: String, to target: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: source) {
            try FileManager.default.copyItem(atPath: "\(source)/\(name)", toPath: "\(target)/\(name)")
        }
    }
}
