// Key files of KeePass, and the dictionary of its key derivation.

import OMCrypto
import OMSecrets
import Testing

@testable import OMInterchange

@Suite("Keys of KeePass") struct KeePassKeyFileTests {
    static let key = [UInt8](1...32)

    private static func xml(_ version: String, _ data: String, hash: String = "") -> String {
        """
        <?xml version="1.0" encoding="utf-8"?>
        <KeyFile><Meta><Version>\(version)</Version></Meta><Key><Data\(hash)>
          \(data)
        </Data></Key></KeyFile>
        """
    }

    private static func firstBytes() throws -> String {
        Hex.encode(Array(try Digest.of(key, .sha256).prefix(4))).uppercased()
    }

    @Test("a key file in each of its forms gives its key")
    func forms() throws {
        let hex = Hex.encode(Self.key)
        let files = [
            Self.key, Array(hex.utf8), Array(hex.uppercased().utf8), Array(Self.xml("1.00", Base64.encode(Self.key)).utf8),
            Array(Self.xml("2.0", hex.prefix(32) + " " + hex.suffix(32), hash: " Hash=\"\(try Self.firstBytes())\"").utf8),
        ]
        for file in files {
            let isRight = try KeePassKeyFile.key(SecretBytes(copying: file)).isEqual(to: SecretBytes(copying: Self.key))
            #expect(isRight, "\(file.count)")
        }
        // Any other file is a key file: its digest.
        for file in ["", "photo", String(repeating: "g", count: 64), "<svg/>", "<KeyFilm/>"] {
            let isDigest = try KeePassKeyFile.key(secret(file)).isEqual(to: Digest.of(secret(file), .sha256))
            #expect(isDigest, "\(file)")
        }
    }

    @Test("a key file in XML with a wrong check value, without a key, or cut, is damaged")
    func damaged() throws {
        let hex = Hex.encode(Self.key), right = " Hash=\"\(try Self.firstBytes())\""
        let files = [
            Self.xml("2.0", hex, hash: " Hash=\"00000000\""), Self.xml("2.0", hex), Self.xml("2.0", "", hash: right),
            Self.xml("2.0", "1" + hex.dropFirst(), hash: right), Self.xml("1.0", ""),
            Self.xml("1.0", "*"), Self.xml("3.0", Base64.encode(Self.key)), String(Self.xml("1.0", "AAAA").dropLast(3)),
            "<KeyFile><Key/></KeyFile>",
        ]
        for file in files {
            #expect(throws: InterchangeError.damagedKeyFile, "\(file)") { try KeePassKeyFile.key(secret(file)) }
        }
    }

    @Test("a dictionary is written as it was read, and refused if it is cut or has a value twice")
    func variants() throws {
        let members: [(String, KDBXVariants.Value)] = [
            ("$UUID", .bytes([1, 2])), ("a", .uint32(7)), ("b", .uint64(8)), ("c", .bool(true)), ("d", .int32(-1)),
            ("e", .int64(-2)), ("f", .text("ü")),
        ]
        let bytes = KDBXVariants(members.map { (name: $0.0, value: $0.1) }).encoded
        let read = try KDBXVariants(reading: bytes)
        #expect(read.members.map(\.name) == members.map(\.0) && read.members.map(\.value) == members.map(\.1))
        #expect(read.encoded == bytes)
        for count in bytes.indices {
            #expect(throws: InterchangeError.self, "\(count)") { try KDBXVariants(reading: Array(bytes[..<count])) }
        }
        #expect(throws: InterchangeError.self) { try KDBXVariants(reading: bytes + [0]) }
        #expect(throws: InterchangeError.self) { try KDBXVariants(reading: bytes.dropLast() + bytes.dropFirst(2)) }
        #expect(
            throws: InterchangeError.unsupported("a later form of parameters", remedy: "save the file as KDBX 4 in KeePassXC")
        ) { try KDBXVariants(reading: [0, 2] + bytes.dropFirst(2)) }
    }

    @Test("a header with Twofish, Arc4, another key derivation or a later version is not supported, and says what to change")
    func unsupported() throws {
        let file = try KeePassSamples.write([]).bytes
        func error(replacing old: [UInt8], with new: [UInt8]) -> InterchangeError? {
            var changed = file
            guard let start = changed.firstRange(of: old)?.lowerBound else { return nil }
            changed.replaceSubrange(start..<start + old.count, with: new)
            return #expect(throws: InterchangeError.self) { try KeePassSamples.read(changed) }
        }
        let twofish = Hex.known("ad68f29f576f4bb9a36ad47af965346c")
        #expect(
            error(replacing: KDBXCipher.aes256.id, with: twofish)
                == .unsupported("Twofish", remedy: "change the cipher in KeePassXC"))
        #expect(
            error(replacing: KDBXDerivation.argon2idID, with: twofish)
                == .unsupported("a key derivation", remedy: "choose Argon2 or AES-KDF in KeePassXC, and save the file"))
        #expect(
            error(replacing: [0, 0, 4, 0], with: [0, 0, 5, 0])
                == .unsupported("version 5.0 of KDBX", remedy: "save the file as KDBX 4 in KeePassXC"))
        let key = secret("k")
        #expect(throws: InterchangeError.unsupported("the cipher of its values", remedy: "save the file as KDBX 4 in KeePassXC"))
        { try KeyStream.ofValues(1, key: key) }
    }

    @Test("AES-KDF encrypts each half as often as the file says, also over the end of a piece", arguments: [1, 2, 3, 4097, 4098])
    func aes(rounds: UInt64) throws {
        let seed = SecretBytes(copying: [UInt8](repeating: 9, count: 32)), key = SecretBytes(copying: Self.key)
        var blocks = key.duplicate()
        for _ in 0..<rounds {
            let next = try BlockCipher.encrypt(
                blocks, unauthenticated: BlockAlgorithm(.aes, Insecure.ecb), key: seed, iv: [], padding: .none)
            blocks = SecretBytes(copying: next)
        }
        let derived = try KDBXDerivation.aes(rounds: rounds, seed: [UInt8](repeating: 9, count: 32)).key(from: key, .standard)
        let isRight = try derived.isEqual(to: Digest.of(blocks, .sha256))
        #expect(isRight)
    }

    @Test("the stream of values is one stream, however it is cut", arguments: [2, 3] as [UInt32])
    func stream(id: UInt32) throws {
        let key = secret("key"), message = [UInt8](repeating: 0, count: 1000)
        let whole = try #require(try KeyStream.ofValues(id, key: key)).apply(message.span).withBytes { [UInt8](copying: $0) }
        let stream = try #require(try KeyStream.ofValues(id, key: key))
        var joined: [UInt8] = []
        for count in [0, 1, 62, 1, 1, 63, 64, 65, 128, 200, 415] {
            joined += stream.apply(message.span.extracting(first: count)).withBytes { [UInt8](copying: $0) }
        }
        #expect(joined == whole && Set(whole).count > 200)
    }
}
