// Keys and members for tests, and the published bytes.

import Foundation
import OMParcels
import OMRecords
import OMSecrets
import OMSyncKeys

let vault = bytes(0x11, 16)
let item = bytes(0x33, 16)

func bytes(_ byte: UInt8, _ count: Int = 32) -> [UInt8] { [UInt8](repeating: byte, count: count) }

func key<Use: KeyUse>(_ byte: UInt8, as use: Use.Type = Use.self) -> Key<Use> {
    guard let key = try? Key<Use>(readFrom: SecretBytes(copying: bytes(byte))) else { preconditionFailure("32 bytes") }
    return key
}

func link(_ byte: UInt8 = 0x05) -> LinkKey { LinkKey(key(byte)) }

func plain(_ secret: borrowing SecretBytes) -> [UInt8] { secret.withBytes { bytes in (0..<bytes.count).map { bytes[$0] } } }

/// A device whose device key, root key and class key have one byte each, from `first` on; so has its salt.
struct SampleDevice {
    let first: UInt8
    let name: DeviceName

    init(_ first: UInt8, _ name: String) {
        guard let name = DeviceName(name) else { preconditionFailure("a name") }
        (self.first, self.name) = (first, name)
    }

    static let one = SampleDevice(0x41, "laptop")
    static let two = SampleDevice(0x51, "tour à pied")

    var scope: MemberKeys.Scope { MemberKeys.Scope(vault: vault, salt: bytes(first + 3, 16)) }

    var keys: RollMember.Keys {
        MemberKeys.publicKeys(device: key(first), root: key(first + 1), whenUnlocked: key(first + 2), scope)
    }

    var number: UInt32 { RollMember.number(of: keys, vault: vault) }

    var head: Key<Signing> { MemberKeys.head(key(first), scope) }
    var member: Key<Signing> { MemberKeys.member(key(first + 1), scope) }
    var wrapping: Key<Agreeing> { MemberKeys.wrapping(key(first + 2), scope) }
    var alwaysWrapping: Key<Agreeing> { MemberKeys.alwaysWrapping(key(first), scope) }
}

/// Device one founds the vault, and adds another device. The wraps hold nothing.
enum SampleRoll {
    static var founding: RollEntry { entry(.found, number: 0, previous: bytes(0), added: [member(.one)], for: [member(.one)]) }

    static func withTwo(
        name: [UInt8] = bytes(0, RollMember.nameBoxCount), _ device: SampleDevice = .two
    ) throws -> (Roll, RollEntry) {
        var roll = try Roll(founding)
        let added = member(device, name)
        let adding = entry(.add, number: 1, previous: founding.digest, added: [added], for: [added])
        try roll.append(adding)
        return (roll, adding)
    }

    static func removal(of number: UInt32, after roll: Roll) -> RollEntry {
        entry(
            .remove, number: UInt32(roll.entries.count), previous: roll.digests[roll.digests.count - 1], removed: [number],
            laneEpoch: 2, for: [member(.one)])
    }

    private static func member(_ device: SampleDevice, _ name: [UInt8] = bytes(0, RollMember.nameBoxCount)) -> RollMember {
        RollMember(.device, device.keys, vault: vault, nameBox: name)
    }

    private static func entry(
        _ kind: RollEntry.Kind, number: UInt32, previous: [UInt8], added: [RollMember] = [], removed: [UInt32] = [],
        laneEpoch: UInt32 = 1, for owners: [RollMember]
    ) -> RollEntry {
        let wraps = owners.flatMap { owner in
            LaneWrap.Kind.allCases.map { kind in
                LaneWrap(
                    LaneWrap.Scope(member: owner.number, kind: kind, laneEpoch: laneEpoch), sender: bytes(9),
                    box: bytes(0, Record.boxOverhead + kind.contentCount))
            }
        }
        let contents = RollEntry.Contents(
            kind: kind, vault: vault, number: number, previous: previous, signer: SampleDevice.one.number, time: 1,
            laneEpoch: laneEpoch, added: added, removed: removed, wraps: wraps)
        return RollEntry(contents, anchor: nil, signedWith: SampleDevice.one.member)
    }
}

/// The bytes that a second implementation wrote from the page: Tests/Golden/sync/README.md.
struct PublishedBytes: Decodable {
    let deviceNumbers: [UInt32]
    let deviceKeys: [String]
    let roll: [String]
    let rollDigests: [String]
    let contents: [String]
    let parcels: [String]
    let pack: String
    let packDigest: String
    let heads: [String]
    let headDigests: [String]
    let headList: String
    let comparisonDigits: String
    let copyId: String
    let copyChunkId: String
    let nameDigits: String
    let valueHash: String
    let pairingCode: String
    let recoveryCode: String
    let pairingMailbox: String
    let pairing: [String]
    let pairingBoxes: [String]
    let pairingDigits: String
    /// The labels with which the bytes were made.
    let labels: [String]

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Golden/sync").standardized

    static func read() throws -> PublishedBytes {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in
            let words = path[path.count - 1].stringValue.split(separator: "-")
            return Name(words[0] + words.dropFirst().map(\.capitalized).joined())
        }
        return try decoder.decode(PublishedBytes.self, from: Data(contentsOf: folder.appending(path: "bytes.json")))
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

func unhex(_ text: String) throws -> [UInt8] { try Hex.decode(text) }
