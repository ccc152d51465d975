import OMSecrets
import OMStorage
import Testing

@testable import OMAuth

@Suite struct LoginRowTests {
    private let home: Home
    private let work: Profile
    private let good: [UInt8]

    init() throws {
        (home, work) = (try Home(), try policy(3))
        try home.enroll(work)
        good = try home.rowBytes(work)
    }

    private func decode(_ bytes: [UInt8]) throws -> LoginRow {
        try LoginRow(bytes, under: home.id(work), home.device())
    }

    /// The body with the MAC that this device would give it: what only a bug, or a thief of the key, could write.
    private func sealed(_ body: [UInt8]) throws -> [UInt8] {
        let key = try home.device().key.derive(Context(.loginRowMAC), as: Authenticating.self)
        return body + MAC.tag(of: body, using: key, context: Context(.loginRowMAC, .bytes(try home.id(work).bytes)))
    }

    @Test("a row reads back as it was written, at the offsets that the format names")
    func roundTrip() throws {
        let row = try decode(good)
        #expect(try row.encode(under: home.device()) == good)
        #expect(good.count == 127 + 1 + 4 + 1 + 3 + LoginSlot.count + 32)
        #expect(LoginSlot.count == 149 && LoginRow.maximumCount == 629)
        #expect(good[0] == 1 && Array(good[1..<17]) == row.id.bytes && Array(good[17..<49]) == row.deviceID)
        #expect(Array(good[49..<57]) == [0, 0, 0, 0, 0, 0, 0, 1] && good[57] == 1)
        #expect(Array(good[66..<71]) == [0, 0, 0, 3, 1])
        #expect(Array(good[127..<136]) == [4] + Array("work".utf8) + [3] + Array("ada".utf8))
        #expect(good[136] == 10)
        var wiped = row
        wiped.credential = .wiped
        #expect(try wiped.encode(under: home.device()).count == good.count - LoginSlot.count)
        #expect(try decode(wiped.encode(under: home.device())) == wiped)
    }

    @Test("an authentic row that the format does not allow is refused, in every field")
    func malformed() throws {
        let body = Array(good.dropLast(32))
        #expect(try decode(sealed(body)) == decode(good))
        let slot = 136
        // Offset, and what stands there instead.
        var patches: [(Int, [UInt8])] = [
            (0, [0]), (0, [2]), (0, [0xFF]), (1, [body[1] ^ 1]), (17, [body[17] ^ 1]),
            (49, [UInt8](repeating: 0, count: 8)), (49, [0x80]), (49, [UInt8](repeating: 0xFF, count: 8)),
            (57, [0]), (57, [4]), (57, [2]), (57, [3]),
            (58, [0, 0, 3, 0xEA]), (58, [0x80, 0, 0, 0]), (58, [0xFF, 0xFF, 0xFF, 0xFF]),
            (62, [0, 0, 0, 1]), (62, [0xFF, 0xFF, 0xFF, 0xFF]),
            (66, [0, 0, 0, 0]), (66, [0, 0, 3, 0xE9]), (66, [0x80, 0, 0, 0]), (70, [0]), (70, [3]),
            (71, [0x7F]), (71, [0xFF]), (79, [0x7F]), (79, [0, 0, 0, 0x3A, 0xFF, 0xFF, 0xFF, 0xFF]), (79, [0x80]),
            (87, [UInt8](repeating: 0, count: 8)), (87, [0xFF]), (95, [0x80]), (103, [0x80]),
            (127, [0]), (127, [3]), (127, [5]), (127, [65]), (127, [255]), (128, [UInt8(ascii: ".")]),
            (128, [0]), (129, [UInt8(ascii: "/")]), (132, [0]), (132, [2]), (132, [4]), (132, [255]),
            (133, [0]), (133, [10]), (133, [0x7F]), (133, [0xC3, 0x28]), (133, [0xED, 0xA0, 0x80]),
            (slot, [12]), (slot, [255]),
        ]
        let memory = slot + 33
        // 4 TiB, 2^31 KiB, just outside the bounds; passes; lanes.
        for kib: [UInt8] in [
            [0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0], [0, 0x10, 0, 1], [0, 0, 0x1F, 0xFF], [0, 0, 0, 0],
        ] {
            patches.append((memory, kib))
        }
        for count: [UInt8] in [[0, 0, 0, 0], [0, 0, 0, 17], [0x80, 0, 0, 0]] { patches.append((memory + 4, count)) }
        for count: [UInt8] in [[0, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 5], [0x80, 0, 0, 0]] {
            patches.append((memory + 8, count))
        }
        #expect(patches.count >= 32)
        for (offset, bytes) in patches {
            var bad = body
            bad.replaceSubrange(offset..<offset + bytes.count, with: bytes)
            let stored = try sealed(bad)
            #expect(throws: AuthError.quarantined, "offset \(offset): \(bytes)") { try decode(stored) }
        }
    }

    @Test("a slot opens only under its commitment, its box, its device key and its login")
    func slotParts() throws {
        let device = try home.device(), clock = ClockReading.now()
        let row = try decode(good)
        guard case .live(let slot) = row.credential else { throw Missing() }
        let stretched = try slot.recipe.stretch(Password("right"))
        func opens(_ body: [UInt8], _ device: borrowing DeviceKey) throws -> Bool {
            try decode(sealed(body)).openNewSlot(with: stretched, device, work, clock) != nil
        }
        let body = Array(good.dropLast(32))
        #expect(try opens(body, device))
        // The salts and the parameters are bound too, though the stretch itself does not see them here.
        for offset in [137, 152, 153, 168, 176] + Array(181..<285) {
            var other = body
            other[offset] ^= offset == 176 ? 3 : 1
            #expect(try !opens(other, device), "offset \(offset)")
        }
        #expect(try !opens(body, DeviceKey(Key<Deriving>.random())))
    }

    @Test("a row of any other length is refused, authentic or not")
    func lengths() throws {
        let body = Array(good.dropLast(32))
        for count in 0..<body.count {
            let stored = try sealed(Array(body.prefix(count)))
            #expect(throws: AuthError.quarantined, "\(count)") { try decode(stored) }
        }
        for extra in [1, 31, 149, 1_000] {
            let stored = try sealed(body + [UInt8](repeating: 0, count: extra))
            #expect(throws: AuthError.quarantined, "\(extra) more") { try decode(stored) }
        }
        for count in [0, 1, 31, 32, good.count - 1] {
            #expect(throws: AuthError.quarantined) { try decode(Array(good.prefix(count))) }
            #expect(LoginRow(unauthenticated: Array(good.prefix(count))) == nil)
        }
    }

    @Test("a row of a hundred megabytes is refused before it is loaded")
    func huge() throws {
        try home.database().execute("UPDATE logins SET row = zeroblob(100000000)")
        #expect(home.check("right", work) == .quarantined)
        #expect(try home.authenticator().status([work]).map(\.refusal) == [.quarantined])
        try home.database().execute("UPDATE logins SET row = 'text'")
        #expect(home.check("right", work) == .quarantined)
        try home.database().execute("INSERT INTO logins VALUES (x'00', x'01')")
        #expect(try home.authenticator().status([work]).map(\.refusal) == [.quarantined, .quarantined])
    }
}
