import OMSecrets
import Testing

@Suite("Strict encodings") struct EncodingsTests {
    @Test("hex, base64 and base32 give back every byte string of every short length")
    func roundTrip() throws {
        for count in 0..<70 {
            let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 73 + count) }
            #expect(try Hex.decode(Hex.encode(content)) == content)
            #expect(try Base64.decode(Base64.encode(content)) == content)
            let secret = SecretBytes(copying: content)
            #expect(try Base64.decode(Base64.encode(secret)).exposed == secret.exposed)
            let text = Base32.encode(secret)
            #expect(try Base32.decode(text).exposed == content)
            let digits = text.exposed.filter { $0 != UInt8(ascii: "=") }
            #expect(try Base32.decode(SecretBytes(copying: digits), .unpadded).exposed == content)
            #expect(refusedBase32(digits, .padded) == (content.count % 5 != 0))
            #expect(refusedBase32(text.exposed, .unpadded) == (content.count % 5 != 0))
        }
    }

    @Test(
        "RFC 4648, section 10",
        arguments: [
            ("", "", ""), ("f", "Zg==", "66"), ("fo", "Zm8=", "666f"), ("foo", "Zm9v", "666f6f"),
            ("foob", "Zm9vYg==", "666f6f62"), ("fooba", "Zm9vYmE=", "666f6f6261"),
            ("foobar", "Zm9vYmFy", "666f6f626172"),
        ])
    func published(text: String, base64: String, hex: String) throws {
        #expect(Base64.encode(Array(text.utf8)) == base64)
        #expect(try Base64.decode(base64) == Array(text.utf8))
        #expect(Hex.encode(Array(text.utf8)) == hex)
        #expect(try Hex.decode(hex) == Array(text.utf8))
    }

    @Test("hex takes either case and writes the lower one")
    func hexCase() throws {
        #expect(try Hex.decode("aBcDEF") == [0xAB, 0xCD, 0xEF])
        #expect(Hex.encode([0xAB, 0xCD, 0xEF]) == "abcdef")
    }

    @Test("malformed hex is refused")
    func malformedHex() {
        let malformed = [
            "0", "000", "abc", "0g", "g0", "zz", "0x00", "0X00", "00 ", " 00", "0 0", "00 00", "00\n", "\n00", "00\t",
            "00\r\n",
            "00:11", "00-11", "00,11", "00.11", "+00a", "-0", "-1", "0o", "O0", "l1", "００", "é0", "00\0", "\000",
            "a\u{301}a",
            "00_11", "{00}", "\"00\"", "%00%", "0h", "=0", "00==",
        ]
        #expect(malformed.count >= 32)
        for text in malformed { #expect(refusedHex(text), "\(text.debugDescription)") }
    }

    @Test("malformed base64 is refused")
    func malformedBase64() {
        let malformed = [
            "Z", "Zg", "Zg=", "Zg===", "Zg==\n", "\nZg==", " Zg==", "Zg== ", "Z g==", "Zm9v\n", "Zm9v\r\n", "Zm\n9v",
            "Zm8",
            "Zm8==", "Zm9v=", "Zm9v==", "Zm9v====", "====", "=", "==", "===", "Z===", "Zh==", "Zj==", "Zv==", "Zm9=",
            "Zm+=",
            "Zm8=Zm8=", "Zg==Zg==", "Z-8=", "Z_8=", "Zm9v-_8=", "Zm9!", "Zm9v*mFy", "Zm9\0", "Zm9v\0\0\0\0", "Zm9é",
            "Zm,v",
            "Zm9v Zm9v", "Zm9vZm9", "A", "AAAAA", "AAAAAA", "AA=A", "A=AA", "=AAA",
        ]
        #expect(malformed.count >= 32)
        for text in malformed { #expect(refusedBase64(text), "\(text.debugDescription)") }
    }

    @Test("base32 takes its 32 digits and no other character, at every position")
    func base32Alphabet() throws {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
        for byte in UInt8.min...UInt8.max {
            for position in 0..<8 where byte != UInt8(ascii: "=") || position < 2 {
                var text = Array("MZXW6YTB".utf8)
                text[position] = byte
                #expect(refusedBase32(text, .padded) != digits.contains(byte), "\(byte) at \(position)")
            }
        }
        #expect(try Base32.decode(SecretBytes(copying: [])).exposed == [])
        for text in ["=", "========", "MY======MY======", "MZXW6YTB========", "MY=====", "A", "AAA", "AAAAAA"] {
            #expect(refusedBase32(Array(text.utf8), .padded), "\(text)")
            #expect(refusedBase32(Array(text.utf8), .unpadded), "\(text)")
        }
    }

    @Test("base64 takes its 64 digits and no other byte, at every position and in a whole group")
    func base64Alphabet() throws {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for byte in UInt8.min...UInt8.max {
            var texts = (0..<4).map { position in
                var text = Array("Zm9vZm9v".utf8)
                text[position] = byte
                return text
            }
            texts.append([UInt8](repeating: byte, count: 4))
            for text in texts {
                for padding in [Base64.Padding.padded, .unpadded] {
                    #expect(refusedBase64(text, padding) != digits.contains(byte), "\(text)")
                }
            }
            if !digits.contains(byte) { #expect(refusedBase64([UInt8(ascii: "Z"), byte], .unpadded)) }
        }
    }

    private func refusedBase64(_ text: [UInt8], _ padding: Base64.Padding) -> Bool {
        refusal { () throws(SecretsError) in _ = try Base64.decode(SecretBytes(copying: text), padding) } == .notCanonical
    }

    private func refusedBase32(_ text: [UInt8], _ padding: Base64.Padding) -> Bool {
        refusal { () throws(SecretsError) in _ = try Base32.decode(SecretBytes(copying: text), padding) } == .notCanonical
    }

    private func refusedHex(_ text: String) -> Bool {
        refusal { () throws(SecretsError) in _ = try Hex.decode(text) } == .notCanonical
    }

    private func refusedBase64(_ text: String) -> Bool {
        refusal { () throws(SecretsError) in _ = try Base64.decode(text) } == .notCanonical
    }
}
