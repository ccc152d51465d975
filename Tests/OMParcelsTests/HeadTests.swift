// Heads, packs and parcels as bytes. Format: docs/formats/sync.md, "Remote".

import OMParcels
import OMRecords
import OMSecrets
import Testing

@Suite("Heads, packs and parcels") struct HeadTests {
    private func statement(_ number: UInt64 = 6) -> Head.Statement {
        Head.Statement(
            vault: vault, incarnation: bytes(2, 16), device: 7, number: number, previous: bytes(3), skip: bytes(4), laneEpoch: 1,
            rollNumber: 1, rollDigest: bytes(5), count: 12, time: -1,
            others: [
                Head.Reference(device: 3, number: 2, digest: bytes(6)), Head.Reference(device: 9, number: 1, digest: bytes(7)),
            ],
            packs: [Head.PackReference(number: 2, digest: bytes(8)), Head.PackReference(number: 5, digest: bytes(9))])
    }

    private func parcel(_ id: UInt8, steps: Int = 1) -> Parcel {
        Parcel(
            header: Parcel.Header(id: bytes(id, 16), laneEpoch: 1, salt: bytes(1, 16), commitment: bytes(2)),
            box: bytes(3, Record.boxOverhead + steps * Record.step))
    }

    @Test("a head is read back, and no changed byte of it is signed")
    func heads() throws {
        let head = Head(statement(), signedWith: key(10))
        let publicKey = EdwardsSignature.publicKey(of: key(10))
        let encoded = head.encoded
        #expect(try Head(decoding: encoded) == head && head.isSigned(by: publicKey))
        #expect(!head.isSigned(by: EdwardsSignature.publicKey(of: key(11))))
        for index in encoded.indices {
            var changed = encoded
            changed[index] ^= 1
            #expect((try? Head(decoding: changed))?.isSigned(by: publicKey) != true, "byte \(index)")
        }
        for count in encoded.indices { #expect((try? Head(decoding: Array(encoded.prefix(count)))) == nil) }
        #expect((try? Head(decoding: encoded + [0])) == nil)
    }

    @Test("a head with wrong links, itself among the others, or a list that does not rise is refused")
    func statements() {
        var wrong: [Head.Statement] = []
        func add(_ change: (inout Head.Statement) -> Void) {
            var changed = statement()
            change(&changed)
            wrong.append(changed)
        }
        add { $0.number = 0 }
        add { $0.device = 0 }
        add { $0.laneEpoch = 0 }
        add { $0.count = 1 << 48 + 1 }
        add { $0.previous = zeros }
        add { $0.skip = zeros }
        add { $0.number = 1 }
        add { $0.others.reverse() }
        add { $0.others[0] = Head.Reference(device: 7, number: 1, digest: bytes(1)) }
        add { $0.others[0] = Head.Reference(device: 3, number: 0, digest: bytes(1)) }
        add { $0.packs.reverse() }
        add { $0.packs[0] = $0.packs[1] }
        for statement in wrong {
            #expect(throws: MalformedBytes.self) { try Head(decoding: Head(statement, signedWith: key(10)).encoded) }
        }
        var first = statement(1)
        (first.previous, first.skip) = (zeros, zeros)
        #expect(throws: Never.self) { try Head(decoding: Head(first, signedWith: key(10)).encoded) }
        #expect([1, 2, 6, 7, 8, 0b1011].map { Head.skipped(from: $0) } == [0, 0, 4, 6, 0, 0b1010])
    }

    @Test("a pack is read back in the order of its ids; no byte may be missing, added or in another order")
    func packs() throws {
        let pack = Pack(vault: vault, device: 7, number: 1, parcels: [parcel(9), parcel(1, steps: 3), parcel(4)])
        let encoded = pack.encoded
        #expect(pack.parcels.map(\.header.id[0]) == [1, 4, 9])
        #expect(try Pack(decoding: encoded) == pack)
        for count in encoded.indices { #expect((try? Pack(decoding: Array(encoded.prefix(count)))) == nil) }
        #expect((try? Pack(decoding: encoded + [0])) == nil)
        #expect((try? Pack(decoding: Pack(vault: vault, device: 7, number: 1, parcels: [parcel(1), parcel(1)]).encoded)) == nil)
        #expect((try? Pack(decoding: Pack(vault: vault, device: 7, number: 1, parcels: []).encoded)) == nil)
        #expect((try? Pack(decoding: Pack(vault: vault, device: 0, number: 1, parcels: [parcel(1)]).encoded)) == nil)
        #expect((try? Pack(decoding: Pack(vault: vault, device: 1, number: 0, parcels: [parcel(1)]).encoded)) == nil)
    }

    @Test("a parcel has 1 to 1,024 whole steps, and the one known version and suite")
    func parcels() throws {
        for steps in [1, Parcel.maximumSteps] {
            #expect(try Parcel(decoding: parcel(1, steps: steps).encoded) == parcel(1, steps: steps))
        }
        for wrong in [parcel(1, steps: 0), parcel(1, steps: Parcel.maximumSteps + 1)] {
            #expect((try? Parcel(decoding: wrong.encoded)) == nil)
        }
        let encoded = parcel(1).encoded
        for index in 0...1 {
            var changed = encoded
            changed[index] = 2
            #expect((try? Parcel(decoding: changed)) == nil)
        }
        #expect((try? Parcel(decoding: Array(encoded.dropLast()))) == nil)
        var ofNoEpoch = encoded
        for index in 18..<22 { ofNoEpoch[index] = 0 }
        #expect((try? Parcel(decoding: ofNoEpoch)) == nil)
    }

    @Test("two holders of X25519 keys agree; a point of low order or with a second encoding is no key")
    func agreement() throws {
        let one = key(3, as: Agreeing.self)
        let other = key(4, as: Agreeing.self)
        let first = try MontgomeryPoint.agree(one, with: MontgomeryPoint.publicKey(of: other))
        let second = try MontgomeryPoint.agree(other, with: MontgomeryPoint.publicKey(of: one))
        let context = Context(.syncDevice)
        #expect(first.fingerprint(context) == second.fingerprint(context))
        // Points of low order: 0, 1, p − 1 and two of order 8. Then p, p + 1 and 2^256 − 1: second encodings.
        let prime = [0xED] + bytes(0xFF, 30) + [0x7F]
        var refused = [zeros, [1] + bytes(0, 31), [0xEC] + prime.dropFirst(), prime, [0xEE] + prime.dropFirst(), bytes(0xFF)]
        refused += try [
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        ].map { try Hex.decode($0) }
        refused.append(MontgomeryPoint.publicKey(of: one).dropLast() + [MontgomeryPoint.publicKey(of: one)[31] | 0x80])
        for point in refused {
            #expect(!MontgomeryPoint.isPublicKey(point))
            #expect(throws: SecretsError.cannotOpen) { try MontgomeryPoint.agree(one, with: point).fingerprint(context) }
        }
        #expect(!MontgomeryPoint.isPublicKey([]))
    }

    @Test("a list of heads that would be longer than a file has all own heads, and the shortest others")
    func roomInLists() throws {
        func head(_ device: UInt32, packs count: UInt64) -> Head {
            let packs = (0..<count).map { Head.PackReference(number: $0 + 1, digest: bytes(1)) }
            let statement = Head.Statement(
                vault: vault, incarnation: bytes(2, 16), device: device, number: 1, previous: zeros, skip: zeros, laneEpoch: 1,
                rollNumber: 0, rollDigest: zeros, count: 1, time: 0, others: [], packs: packs)
            return Head(statement, signedWith: key(7))
        }
        let own = [head(1, packs: 900)]
        let (long, short) = ((2..<130).map { head($0, packs: 1000) }, (200..<210).map { head($0, packs: 1) })
        let list = HeadList(vault: vault, own: own, others: long + short)
        #expect(list.encoded.count <= HeadList.maximumCount)
        let devices = Set(list.heads.map(\.statement.device))
        #expect(devices.contains(1) && devices.isSuperset(of: short.map(\.statement.device)))
        #expect((50..<128).contains(devices.count - 11), "as many long ones as there is room for")
        #expect(try HeadList(decoding: list.encoded).heads.count == devices.count)
    }
}
