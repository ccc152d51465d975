// The encryption of an export under a password: a key from PBKDF2 or Argon2id, two keys from it by HKDF, and texts of type 2, which
// are AES-256-CBC with an HMAC-SHA-256 over IV and ciphertext.

internal import OMCrypto
internal import OMJSON
internal import OMSecrets

enum BitwardenEncryption {
    /// The plain export inside.
    static func open(
        _ members: [String: Range<Int>], in bytes: Span<UInt8>, with key: borrowing ForeignKey
    ) throws(InterchangeError) -> SecretBytes {
        func value(_ name: String) throws(InterchangeError) -> JSONRanges? {
            guard let range = members[name] else { return nil }
            return try BitwardenReader.reading { () throws(MalformedJSON) in try JSONRanges(of: range, in: bytes) }
        }
        guard case .bool(true)? = try value("passwordProtected") else {
            throw .unsupported(
                "an export that only its own account opens", remedy: "export again: File format .json, or Password protected")
        }
        guard let salt = try value("salt")?.text(in: bytes), let data = try value("data")?.secret(in: bytes),
            let check = try value("encKeyValidation_DO_NOT_EDIT")?.secret(in: bytes),
            let iterations = try value("kdfIterations")?.number(in: bytes)
        else { throw .damaged("the members of an encrypted export are missing") }
        let kind = try value("kdfType")?.number(in: bytes) ?? 0
        let memory = try value("kdfMemory")?.number(in: bytes) ?? 64
        let lanes = try value("kdfParallelism")?.number(in: bytes) ?? 4
        switch key.password {
        case .none: throw .needsPassword
        case .some(let password):
            let stretched = try stretch(
                password, salt: salt, Work(kind: kind, iterations: iterations, memory: memory, lanes: lanes))
            let keys = try BitwardenKeys.keys(from: stretched)
            guard try keys.open(check) != nil else { throw .wrongKey }
            guard let plain = try keys.open(data) else { throw .damaged("the check value of the data") }
            return plain
        }
    }

    private struct Work {
        let kind: Int
        let iterations: Int
        /// MiB.
        let memory: Int
        let lanes: Int
    }

    private static func stretch(
        _ password: borrowing SecretBytes, salt: String, _ work: Work
    ) throws(InterchangeError) -> SecretBytes {
        guard (1...1 << 30).contains(work.iterations), (1...1 << 20).contains(work.memory), (1...1 << 20).contains(work.lanes)
        else { throw .tooMuch("work for one password") }
        let salt = Array(salt.utf8)
        do throws(CryptoError) {
            switch work.kind {
            case 0:
                try WorkLimit.standard.check(.pbkdf2(.sha256, iterations: work.iterations))
                return try KeyDerivation.pbkdf2(.sha256, password, salt: salt, iterations: work.iterations, count: 32)
            case 1:
                let parameters = Argon2.Parameters(memoryKiB: work.memory << 10, passes: work.iterations, lanes: work.lanes)
                // Attack: the file names the cost.
                try WorkLimit.standard.check(.argon2(.argon2id, parameters))
                var digest = try Digest(.sha256)
                digest.update(salt.span)
                return try KeyDerivation.argon2(.argon2id, password, salt: digest.finish(), parameters, count: 32)
            default: break
            }
        } catch {
            switch error {
            case .workTooHigh, .outOfMemory: throw .tooMuch("work for one password")
            default: throw .damaged("the parameters of the key derivation")
            }
        }
        throw .unsupported("key derivation \(work.kind)", remedy: "export again, without a password")
    }
}

/// The two keys of an export.
private struct BitwardenKeys: ~Copyable {
    private let cipher: SecretBytes
    private let mac: SecretBytes

    /// HKDF's second step (RFC 5869), of one block for each key.
    static func keys(from key: borrowing SecretBytes) throws(InterchangeError) -> BitwardenKeys {
        do throws(CryptoError) {
            let cipher = try HMAC.tag(of: (Array("enc".utf8) + [1]).span, .sha256, key: key)
            let mac = try HMAC.tag(of: (Array("mac".utf8) + [1]).span, .sha256, key: key)
            return BitwardenKeys(cipher, mac)
        } catch { throw .damaged("the key") }
    }

    private init(_ cipher: consuming SecretBytes, _ mac: consuming SecretBytes) {
        self.cipher = cipher
        self.mac = mac
    }

    /// - Parameter text: `2.IV|CIPHERTEXT|MAC`, each in base64.
    /// - Returns: nil if the check value is another one.
    func open(_ text: borrowing SecretBytes) throws(InterchangeError) -> SecretBytes? {
        let parts = try text.withBytes { (text: Span<UInt8>) throws(InterchangeError) in try Self.parts(text) }
        let (iv, sealed, tag) = (parts[0].bytes, parts[1].bytes, parts[2].bytes)
        guard iv.count == 16, sealed.count % 16 == 0, tag.count == 32 else { throw .damaged("an encrypted text") }
        do throws(CryptoError) {
            guard try HMAC.isTag(tag.span, of: (iv + sealed).span, .sha256, key: mac) else { return nil }
            var block = try BlockCipher(.decrypt, unauthenticated: .aesCBC, key: cipher, iv: iv, padding: .pkcs7)
            var plain = SecretBuffer(capacity: sealed.count + 16)
            plain.append(try block.update(sealed.span))
            plain.append(try block.finish())
            return plain.finish()
        } catch { throw .damaged("an encrypted text") }
    }

    private static func parts(_ text: Span<UInt8>) throws(InterchangeError) -> [(bytes: [UInt8], count: Int)] {
        guard text.starts(with: Array("2.".utf8)) else {
            throw .unsupported("encrypted texts of another type", remedy: "export again, without a password")
        }
        var (parts, start): ([(bytes: [UInt8], count: Int)], Int) = ([], 2)
        while start <= text.count, parts.count < 4 {
            var end = start
            while end < text.count, text[end] != UInt8(ascii: "|") { end += 1 }
            let base64 = SecretBytes(copying: text.extracting(start..<end))
            do throws(SecretsError) {
                let decoded = try Base64.decode(base64)
                parts.append((decoded.withBytes { decoded in decoded.indices.map { decoded[$0] } }, decoded.count))
            } catch { throw .damaged("an encrypted text is no base64") }
            start = end + 1
        }
        guard parts.count == 3 else { throw .damaged("an encrypted text") }
        return parts
    }
}
