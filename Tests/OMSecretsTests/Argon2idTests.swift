import Glibc
import Testing

@testable import OMSecrets

@Suite("Stretching") struct Argon2idTests {
    @Test(
        "work factors outside the bounds are refused before anything is allocated",
        arguments: [
            (UInt32.max, 3, 1),  // 4 TiB
            (0, 3, 1), ((8 << 10) - 1, 3, 1), ((1 << 20) + 1, 3, 1),
            (8 << 10, 0, 1), (8 << 10, 17, 1), (8 << 10, .max, 1),
            (8 << 10, 1, 0), (8 << 10, 1, 5), (8 << 10, 1, .max),
        ] as [(UInt32, UInt32, UInt32)])
    func outOfBounds(memory: UInt32, passes: UInt32, lanes: UInt32) {
        #expect(refusal(memory, passes, lanes) == .stretchOutOfBounds)
    }

    @Test("lanes within the bounds are read, but not computed by this build", arguments: [2, 3, 4] as [UInt32])
    func lanes(count: UInt32) throws {
        let parameters = try Argon2id.Parameters(memoryKiB: 8 << 10, passes: 1, lanes: count)
        #expect(throws: SecretsError.lanesUnsupported) {
            _ = try Argon2id.stretch(SecretBytes("password"), salt: Array("somesaltsomesalt".utf8), parameters)
        }
    }

    @Test("the ends of the bounds are within them", arguments: [(8 << 10, 1), (1 << 20, 16)] as [(UInt32, UInt32)])
    func ends(memory: UInt32, passes: UInt32) {
        #expect(refusal(memory, passes, 1) == nil)
    }

    @Test(
        "libargon2 gives the same keys",
        arguments: [
            // libargon2 20171227: argon2id_hash_raw(passes, memory, 1, password, "somesaltsomesalt", 32 bytes)
            ("password", 8192, 1, "84fb006bbc3cd69895722b64b5bf735251a9e8e9f3ecb93ff595b98aeb7accb7"),
            ("password", 65536, 3, "7664ad4ba1a3c999fcdd0991ffc2270f78302d2383233db5e7befc85d1bb1819"),
            ("", 8192, 3, "6fa855da7bafda7df7f4d096768ed7697a38e5f6faa691b5d6ef351d70840c94"),
        ] as [(String, UInt32, UInt32, String)])
    func reference(password: String, memory: UInt32, passes: UInt32, expected: String) throws {
        let parameters = try Argon2id.Parameters(memoryKiB: memory, passes: passes)
        let key = try Argon2id.stretch(SecretBytes(password), salt: Array("somesaltsomesalt".utf8), parameters)
        #expect(key.bytes.hex == expected)
    }

    @Test("another password or another salt gives another key")
    func separation() throws {
        let salt = [UInt8](repeating: 1, count: 16)
        let key = try Argon2id.stretch(SecretBytes("a"), salt: salt, .floor)
        #expect(try key.bytes.exposed != Argon2id.stretch(SecretBytes("b"), salt: salt, .floor).bytes.exposed)
        let other = [UInt8](repeating: 2, count: 16)
        #expect(try key.bytes.exposed != Argon2id.stretch(SecretBytes("a"), salt: other, .floor).bytes.exposed)
    }

    private func refusal(_ memory: UInt32, _ passes: UInt32, _ lanes: UInt32) -> SecretsError? {
        OMSecretsTests.refusal { () throws(SecretsError) in
            _ = try Argon2id.Parameters(memoryKiB: memory, passes: passes, lanes: lanes)
        }
    }
}
