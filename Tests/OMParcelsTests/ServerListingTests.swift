// The list of a remote's files on a server. docs/formats/sync.md, "Over HTTP".

import OMRecords
import OMSecrets
import TestSupport
import Testing

@testable import OMParcels

@Suite("The list of files on a server") struct ServerListingTests {
    private static func digest(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }
    private static let mailbox = [UInt8](repeating: 5, count: 16)

    private static let entries: [ServerListing.Entry] = [
        .init(.message(mailbox: mailbox, number: 4)), .init(.pack(device: 7, number: 1 << 40)),
        .init(.pack(device: 7, number: 2)),
        .init(.heads(device: 7), digest: digest(3)), .init(.head(device: 7, isSecond: true), digest: digest(2)),
        .init(.head(device: 7, isSecond: false), digest: digest(9)), .init(.entry(number: 1, digest: digest(1))),
    ]

    @Test("a list has the bytes of the page, and reads back")
    func bytes() throws {
        let listing = ServerListing(change: 0x0102, Self.entries)
        let text = """
            01 0000000000000102 00000007
            01 00000001 \(Hex.encode(Self.digest(1)))
            02 00000007 00 \(Hex.encode(Self.digest(9)))
            02 00000007 01 \(Hex.encode(Self.digest(2)))
            03 00000007 \(Hex.encode(Self.digest(3)))
            04 00000007 0000000000000002
            04 00000007 0000010000000000
            05 \(Hex.encode(Self.mailbox)) 04
            """
        let bytes = try Hex.decode(text.filter { $0 != " " && $0 != "\n" })
        #expect(listing.encoded == bytes)
        #expect(try ServerListing(decoding: bytes) == listing)
        #expect(ServerListing(change: 1, []).encoded == [1] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0])
    }

    @Test("a list that is cut, longer, out of order, with a file twice or of another kind is refused")
    func refusals() throws {
        let good = ServerListing(change: 1, Self.entries).encoded
        func refused(_ bytes: [UInt8], _ why: String) {
            #expect(throws: MalformedBytes.self, "\(why)") { try ServerListing(decoding: bytes) }
        }
        for count in 0..<good.count { refused(Array(good[..<count]), "cut at \(count)") }
        refused(good + [0], "one byte more")
        func changed(_ place: Int, _ byte: UInt8) -> [UInt8] {
            var bytes = good
            bytes[place] = byte
            return bytes
        }
        refused(changed(0, 2), "another version")
        refused(changed(12, 8), "one file more than there are")
        refused(changed(9, 1), "16 million files")
        refused(changed(13, 6), "another kind")
        let head = 13 + 37
        refused(changed(head + 5, 2), "a third file of heads")
        refused(changed(head + 38 + 5, 0), "out of order")
        let one: [UInt8] = [2, 0, 0, 0, 7, 0]
        let twice = one + Self.digest(1) + one + Self.digest(2)
        refused([1] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 2] + twice, "a file twice, with two digests")
        let pack = head + 2 * 38 + 37
        refused(changed(pack + 12, 0), "pack 0")
        refused(changed(good.count - 1, 5), "a fifth message")
        var none: [UInt8] = [1] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 1] + [2, 0, 0, 0, 0, 0]
        none += Self.digest(1)
        refused(none, "device 0")
    }

    @Test("a login without a token or user, or with a part that is too long, is none")
    func logins() throws {
        func login(_ refresh: Int, _ access: Int, _ user: Int, _ trusted: Int) -> ServerLogin? {
            ServerLogin(
                refresh: SecretBytes(copying: [UInt8](repeating: 65, count: refresh)),
                access: SecretBytes(copying: [UInt8](repeating: 65, count: access)), expires: 9,
                user: String(repeating: "u", count: user), trusted: [UInt8](repeating: 65, count: trusted))
        }
        let largest = try #require(login(4096, 4096, 255, 64 << 10))
        let encoded = largest.encoded
        let isSame = try ServerLogin.decode(encoded).encoded.isEqual(to: encoded)
        #expect(isSame)
        for (refresh, access, user, trusted) in [
            (0, 1, 1, 0), (1, 0, 1, 0), (1, 1, 0, 0), (4097, 1, 1, 0), (1, 4097, 1, 0), (1, 1, 256, 0), (1, 1, 1, (64 << 10) + 1),
        ] {
            #expect(login(refresh, access, user, trusted) == nil)
        }
        let small = try #require(login(1, 1, 1, 1)).encoded
        let bytes = small.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        for count in 0..<bytes.count {
            #expect(throws: MalformedBytes.self) { try ServerLogin.decode(SecretBytes(copying: Array(bytes[..<count]))) }
        }
        #expect(throws: MalformedBytes.self) { try ServerLogin.decode(SecretBytes(copying: bytes + [0])) }
    }
}
