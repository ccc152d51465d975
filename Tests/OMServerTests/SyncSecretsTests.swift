#if Server
// What the server's store has: nothing that opens a vault. docs/formats/sync.md, "What a remote sees".

import Foundation
import OMParcels
import OMRecords
import OMSecrets
import OMServerStore
import OMSyncKeys
import TestSupport
import Testing

@testable import OMServer

@Suite("Secrets and the server") struct SyncSecretsTests {
    private static let canaries = ["canary-name-of-an-item", "canary-value-of-a-field", "canary-laptop", "canary-answer"]

    /// Keys of a device and a vault. A server must have none of them.
    private static let keys: [String: [UInt8]] = [
        "lane": Sample.bytes(101), "second lane": Sample.bytes(102), "always": Sample.bytes(103), "link": Sample.bytes(104),
        "head": Sample.bytes(10), "member": Sample.bytes(11), "wrapping": Sample.bytes(12), "second wrapping": Sample.bytes(13),
        "recovery": Sample.bytes(51),
    ]

    /// Everything that the store has, in one piece, also what is deleted in an SQLite file.
    private func stored(_ server: SyncServer) throws -> [UInt8] {
        var all: [UInt8] = []
        for row in try server.rows().values.joined() {
            for column in row.columns {
                switch column {
                case .bytes(let bytes): all += bytes + [0]
                case .text(let text): all += Array(text.utf8) + [0]
                case .number, .null: break
                }
            }
        }
        for file in try FileManager.default.contentsOfDirectory(atPath: server.place.folder.path) {
            all += [UInt8](try Data(contentsOf: URL(filePath: server.place.folder.file(file))))
        }
        return all
    }

    private func has(_ part: [UInt8], _ all: [UInt8]) -> Bool { Data(all).range(of: Data(part)) != nil }

    @Test("with an account's password in hand, the server's store opens nothing", arguments: StoreKind.allCases)
    func opensNothing(kind: StoreKind) async throws {
        let server = try await SyncServer(kind)
        let lane = Lane(.whenUnlocked, epoch: 1, Sample.key(101)), link = LinkKey(Sample.key(104))
        let lanes = WrappedLanes(
            afterFirstUnlock: Lane(.afterFirstUnlock, epoch: 1, Sample.key(102)), whenUnlocked: lane, link: link)
        let always = Lane(.always, epoch: 1, Sample.key(103))
        // Entry 0 with sealed names and lanes.
        let plain = Sample.member(10)
        let name = link.seal(try #require(DeviceName(Self.canaries[2])), of: plain.number, vault: Sample.vault)
        let members = [Sample.member(10, nameBox: name), Sample.member(50)]
        let wraps = try members.flatMap { member in
            [
                try lanes.wrap(for: member, entry: 0, vault: Sample.vault),
                try WrappedLanes.wrap(always: always, for: member, entry: 0, vault: Sample.vault),
            ]
        }
        let founding = RollEntry(
            RollEntry.Contents(
                kind: .found, vault: Sample.vault, number: 0, previous: Sample.zeros, signer: plain.number, time: 1, laneEpoch: 1,
                added: members, removed: [], wraps: wraps),
            anchor: Sample.bytes(7), signedWith: Sample.key(11))
        #expect(try server.put(.founding, founding.encoded) == 201)
        let content = SecretBytes(copying: Array("\(Self.canaries[0]) \(Self.canaries[1])".utf8).span)
        let parcel = lane.seal(.item, content, id: Sample.bytes(1, 16), vault: Sample.vault)
        let pack = Pack(vault: Sample.vault, device: plain.number, number: 1, parcels: [parcel])
        var chain = TestChain(10)
        let head = chain.next(try Roll(founding), packs: [pack])
        #expect(try server.put(pack) == 204 && server.put(head, &chain) == 204)
        #expect(try server.put(.heads(device: plain.number), HeadList(vault: Sample.vault, heads: [head]).encoded) == 204)
        // A login with the password, and a refresh.
        let login = server.service.logIn("ana", SyncServer.password)
        let refreshed = try server.service.refresh(login.text("refresh_token"))
        #expect(login.status == 200 && refreshed.status == 200)
        let ana = try #require(AccountName("ana"))
        let hash = try #require(try server.service.passwords.hash(answer: SecretBytes(copying: Array(Self.canaries[3].utf8))))
        #expect(try server.store.transaction(.write) { try QuestionTable.add("Which school?", hash: hash, of: ana, $0) })
        let all = try stored(server)
        // The scan sees the rows: what is no secret is found.
        #expect(has(Array("Which school?".utf8), all))
        #expect(has(parcel.box, all) && has(name, all) && has(Array("laptop".utf8), all) && has(Array("ana".utf8), all))
        for canary in Self.canaries { #expect(!has(Array(canary.utf8), all), "\(canary)") }
        #expect(!has(Array(SyncServer.password.utf8), all))
        for answer in [login, refreshed] {
            for kind in ["access_token", "refresh_token"] {
                let token = try answer.text(kind)
                #expect(!has(Array(token.utf8), all) && !has(Array(token.dropFirst(5).utf8), all), "\(kind)")
            }
        }
        #expect(try !has(Array(server.token().utf8), all))
        for (key, bytes) in Self.keys { #expect(!has(bytes, all), "\(key)") }
        // The parcel opens with its lane, which the server does not have, and with no key that the password gives.
        #expect(throws: Never.self) { _ = try lane.open(parcel, vault: Sample.vault) }
        let digest = PublicHash.hash(Array(SyncServer.password.utf8))
        let guess = Lane(.whenUnlocked, epoch: 1, try Key(readFrom: SecretBytes(copying: digest.span)))
        #expect(throws: SecretsError.self) { _ = try guess.open(parcel, vault: Sample.vault) }
    }
}
#endif
