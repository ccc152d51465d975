import Foundation
import OMSecrets
import OMStorage
import OMSystem
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

    /// The body with a MAC of this device. Only a bug, or a thief of the key, could write it.
    private func sealed(_ body: [UInt8]) throws -> [UInt8] {
        let key = try home.device().key.derive(Context(.loginRowMAC), as: Authenticating.self)
        return body + MAC.tag(of: body, using: key, context: Context(.loginRowMAC, .bytes(try home.id(work).bytes)))
    }

    @Test("a row reads back as it was written, at the offsets that the format names")
    func roundTrip() throws {
        let row = try decode(good)
        #expect(try row.encode(under: home.device()) == good)
        #expect(good.count == 140 + 1 + 1 + 4 + 1 + 3 + 1 + 2 + LoginSlot.count + 32)
        #expect(LoginSlot.count == 149 && LoginRow.maximumCount == 5120)
        #expect(good[0] == 2 && Array(good[1..<17]) == row.id.bytes && Array(good[17..<49]) == row.deviceID)
        #expect(Array(good[49..<57]) == [0, 0, 0, 0, 0, 0, 0, 1] && good[57] == 1)
        #expect(Array(good[66..<71]) == [0, 0, 0, 3, 1])
        #expect(Array(good[141..<153]) == [4] + Array("work".utf8) + [3] + Array("ada".utf8) + [0, 0, 0])
        #expect(good[127] == 1 && Array(good[128..<141]) == [UInt8](repeating: 0, count: 13) && good[153] == 10)
        var wiped = row
        wiped.verifier = .wiped
        #expect(try wiped.encode(under: home.device()).count == good.count - LoginSlot.count)
        #expect(try decode(wiped.encode(under: home.device())) == wiped)
    }

    @Test("R48 an authentic row that the format does not allow is refused, in every field")
    func malformed() throws {
        let body = Array(good.dropLast(32))
        #expect(try decode(sealed(body)) == decode(good))
        let slot = 153
        // An offset, and the bytes to write there.
        var patches: [(Int, [UInt8])] = [
            (0, [0]), (0, [1]), (0, [3]), (0, [0xFF]), (1, [body[1] ^ 1]), (17, [body[17] ^ 1]),
            (49, [UInt8](repeating: 0, count: 8)), (49, [0x80]), (49, [UInt8](repeating: 0xFF, count: 8)),
            (57, [0]), (57, [4]), (57, [5]), (57, [6]), (57, [2]), (57, [3]),
            (58, [0, 0, 3, 0xEA]), (58, [0x80, 0, 0, 0]), (58, [0xFF, 0xFF, 0xFF, 0xFF]),
            (62, [0, 0, 0, 1]), (62, [0xFF, 0xFF, 0xFF, 0xFF]),
            (66, [0, 0, 0, 0]), (66, [0, 0, 3, 0xE9]), (66, [0x80, 0, 0, 0]), (70, [0]), (70, [3]),
            (71, [0x7F]), (71, [0xFF]), (79, [0x7F]), (79, [0, 0, 0, 0x3A, 0xFF, 0xFF, 0xFF, 0xFF]), (79, [0x80]),
            (87, [UInt8](repeating: 0, count: 8)), (87, [0xFF]), (95, [0x80]), (103, [0x80]),
            (127, [0]), (127, [3]), (128, [0, 0, 3, 0xEA]), (128, [0xFF]), (132, [0x80]), (140, [1]), (140, [2]),
            (141, [0]), (141, [3]), (141, [5]), (141, [65]), (141, [255]), (142, [UInt8(ascii: ".")]),
            (142, [0]), (143, [UInt8(ascii: "/")]), (146, [0]), (146, [2]), (146, [4]), (146, [255]),
            (147, [0]), (147, [10]), (147, [0x7F]), (147, [0xC3, 0x28]), (147, [0xED, 0xA0, 0x80]),
            (150, [1]), (150, [255]), (151, [0, 1]), (151, [0x10, 0x69]), (151, [0xFF, 0xFF]),
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
        guard case .live(let slot) = row.verifier else { throw Missing() }
        let stretched = try slot.derivation.stretch(Password("right"))
        func opens(_ body: [UInt8], _ device: borrowing DeviceKey) throws -> Bool {
            try decode(sealed(body)).openNewSlot(
                with: stretched, on: device, under: LoginPolicy(work, nil), at: clock) != nil
        }
        let body = Array(good.dropLast(32))
        #expect(try opens(body, device))
        // The salts and the parameters are bound too, although the stretch itself does not check them here.
        for offset in [154, 169, 170, 185, 193] + Array(198..<302) {
            var other = body
            other[offset] ^= offset == 193 ? 3 : 1
            #expect(try !opens(other, device), "offset \(offset)")
        }
        #expect(try !opens(body, DeviceKey(Key<Deriving>.random())))
    }

    @Test("a row with every server setting reads back as it was written, and malformed policies are refused")
    func serverRow() throws {
        let policy = ServerPolicy(
            epoch: 7, offlineAuthAllowed: true, maxLoginAttempts: 5, cryptoScheme: .sha256,
            locationUpdateEnabled: false,
            locationUpdateDistanceFilter: 100)
        var row = try decode(good)
        row.server = policy
        (row.onlineCompares, row.lastAttempt) = (2, 1_700_000_000)
        for credential: LoginRow.StoredVerifier in [row.verifier, .clearPending, .cleared] {
            row.verifier = credential
            #expect(try decode(row.encode(under: home.device())) == row)
        }
        row.server = ServerPolicy(epoch: 0)
        #expect(try decode(row.encode(under: home.device())) == row)
        row.server = policy
        let body = Array(try row.encode(under: home.device()).dropLast(32))
        for (offset, bytes) in [
            (141, [0x80]), (149, [3]), (150, [0, 0, 3, 0xE9]), (150, [0xFF]), (154, [12]), (154, [254]), (155, [3]),
        ] as [(Int, [UInt8])] {
            var bad = body
            bad.replaceSubrange(offset..<offset + bytes.count, with: bytes)
            let stored = try sealed(bad)
            #expect(throws: AuthError.quarantined, "offset \(offset): \(bytes)") { try decode(stored) }
        }
    }

    @Test("a row of version 1 is read and checked, then written as version 2 around the same slot")
    func firstVersion() throws {
        var first = Array(good.dropLast(32))
        first.removeSubrange(150..<153)
        first.removeSubrange(127..<141)
        first[0] = 1
        let stored = try sealed(first)
        let row = try decode(stored)
        #expect(row == (try decode(good)))
        // The state that the release before this one left: the row, its mark, and a ledger of one table.
        let id = try home.id(work)
        try FileManager.default.removeItem(atPath: home.backend.ledger)
        for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: home.backend.ledger + end) }
        _ = try Database.create(home.backend.ledger, Ledger.firstSchema) { (database) throws(StorageError) in
            var add = try database.prepare("INSERT INTO logins VALUES (?1, ?2)")
            try add.bind(1, id.bytes)
            try add.bind(2, stored)
            _ = try add.step()
        }
        try DeviceFolder(home.backend.device).highWater(.login, id: id.bytes, under: home.device())
            .write([HighWaterMark(generation: row.generation, digest: Array(stored.suffix(32)))])
        #expect(home.check("wrong", work) == .wrongPassword(attemptsLeft: 2, consequence: .wipe))
        #expect(home.check("right", work) == nil)
        #expect(try home.rowBytes(work)[0] == 2)
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

    @Test("a row of nineteen megabytes, which SQLite accepts, is refused; HugeRowTests have longer ones")
    func huge() throws {
        try home.database().execute("UPDATE logins SET row = zeroblob(19000000)")
        #expect(home.check("right", work) == .quarantined)
        #expect(try home.authenticator().status([work]).map(\.refusal) == [.quarantined])
        try home.database().execute("UPDATE logins SET row = 'text'")
        #expect(home.check("right", work) == .quarantined)
        try home.database().execute("INSERT INTO logins VALUES (x'00', x'01')")
        #expect(try home.authenticator().status([work]).map(\.refusal) == [.quarantined, .quarantined])
    }
}
