import OMCrypto
import OMSecrets
import Testing

@Suite("Symmetric ciphers") struct SymmetricTests {
    @Test("every cipher, mode and key length returns messages of any length, whole or in pieces")
    func roundTrips() throws {
        for cipher in BlockAlgorithm.Cipher.allCases {
            for mode in BlockAlgorithm.Mode.allCases {
                let algorithm = BlockAlgorithm(cipher, mode)
                for keyCount in algorithm.keyCounts {
                    let (key, iv) = (pattern(keyCount), pattern(algorithm.blockCount, seed: 250))
                    for count in [0, 1, 7, 8, 15, 16, 17, 4095, 4097, 9000] {
                        let message = pattern(count)
                        let whole = try BlockCipher.encrypt(
                            secret(message), unauthenticated: algorithm, key: secret(key), iv: iv, padding: .pkcs7)
                        let back = try BlockCipher.decrypt(
                            whole, unauthenticated: algorithm, key: secret(key), iv: iv, padding: .pkcs7)
                        #expect(bytes(back) == message, "\(algorithm.name(keyCount: keyCount)) \(count)")
                        var pieces = try BlockCipher(
                            .encrypt, unauthenticated: algorithm, key: secret(key), iv: iv, padding: .pkcs7)
                        var joined: [UInt8] = []
                        for start in stride(from: 0, to: count, by: 613) {
                            joined += bytes(try pieces.update(Array(message[start..<min(count, start + 613)]).span))
                        }
                        joined += bytes(try pieces.finish())
                        #expect(joined == whole)
                    }
                }
            }
        }
    }

    @Test("known names have their meaning in either case, and other names are refused")
    func names() throws {
        for cipher in BlockAlgorithm.Cipher.allCases {
            for mode in BlockAlgorithm.Mode.allCases {
                let algorithm = BlockAlgorithm(cipher, mode)
                for keyCount in algorithm.keyCounts {
                    let found = try BlockAlgorithm.named(algorithm.name(keyCount: keyCount).uppercased())
                    #expect(found.algorithm == algorithm)
                    #expect(found.keyCount == (cipher == .aes ? keyCount : nil))
                }
            }
        }
        for name in ["", "aes", "aes-512-cbc", "aes-256", "aes-256-gcm", "des", "des-56-cbc", "3des", "aes-256-cbc "] {
            #expect(throws: CryptoError.unknownAlgorithm) { _ = try BlockAlgorithm.named(name) }
        }
        for name in ["", "gcm", "aes-256-cbc", "aes-64-gcm", "chacha20"] {
            #expect(throws: CryptoError.unknownAlgorithm) { _ = try AEADAlgorithm.named(name) }
        }
    }

    @Test("a sealed message opens only with its key, nonce and data")
    func sealing() throws {
        for algorithm in AEADAlgorithm.allCases {
            for keyCount in algorithm.keyCounts {
                let key = secret(pattern(keyCount))
                let (message, data) = (pattern(100), pattern(5))
                let box = try AuthenticatedCipher.seal(secret(message), algorithm, key: key, associatedData: data)
                #expect(box.count == algorithm.nonceCount + 100 + 16)
                #expect(try bytes(AuthenticatedCipher.open(box, algorithm, key: key, associatedData: data)) == message)
                for index in box.indices {
                    var changed = box
                    changed[index] ^= 1
                    #expect(throws: CryptoError.cannotDecrypt) {
                        _ = try AuthenticatedCipher.open(changed, algorithm, key: key, associatedData: data)
                    }
                }
                for count in [0, 1, algorithm.nonceCount, algorithm.nonceCount + 15, box.count - 1] {
                    #expect(throws: CryptoError.cannotDecrypt) {
                        _ = try AuthenticatedCipher.open(
                            Array(box.prefix(count)), algorithm, key: key, associatedData: data)
                    }
                }
                #expect(throws: CryptoError.cannotDecrypt) {
                    _ = try AuthenticatedCipher.open(box, algorithm, key: key)
                }
            }
            #expect(throws: CryptoError.keyLength) {
                _ = try AuthenticatedCipher.seal(secret([]), algorithm, key: secret(pattern(15)))
            }
        }
    }

    @Test("a sealer of many messages gives the same boxes as single calls")
    func sealer() throws {
        for algorithm in [AEADAlgorithm.aesGCM, .chacha20Poly1305] {
            let key = secret(pattern(32))
            var sealer = try AuthenticatedSealer(algorithm, key: key)
            for count in [0, 1, 100, 5000] {
                let (nonce, data) = (pattern(12, seed: count), pattern(count % 7))
                var box = [UInt8](repeating: 0, count: count + 16)
                var target = box.mutableSpan
                try sealer.seal(pattern(count).span, nonceNeverUsedBefore: nonce, associatedData: data, into: &target)
                let one = try AuthenticatedCipher.seal(
                    secret(pattern(count)), algorithm, key: key, nonceNeverUsedBefore: nonce, associatedData: data)
                #expect(box == one.ciphertext + one.tag)
            }
        }
        #expect(throws: CryptoError.unknownAlgorithm) {
            _ = try AuthenticatedSealer(.xchacha20Poly1305, key: secret(pattern(32)))
        }
        #expect(throws: CryptoError.keyLength) { _ = try AuthenticatedSealer(.aesGCM, key: secret(pattern(31))) }
    }

    @Test("a cut tag is accepted only on request, and never below 4 bytes")
    func cutTags() throws {
        let key = secret(pattern(16))
        let nonce = pattern(12)
        let sealed = try AuthenticatedCipher.seal(
            secret(pattern(20)), .aesGCM, key: key, nonceNeverUsedBefore: nonce, associatedData: [])
        for count in 0..<16 {
            let tag = Array(sealed.tag.prefix(count))
            #expect(throws: CryptoError.cannotDecrypt) {
                _ = try AuthenticatedCipher.open(
                    sealed.ciphertext, tag: tag, .aesGCM, key: key, nonce: nonce, associatedData: [])
            }
            let loose = try? Insecure.open(
                sealed.ciphertext, shortTag: tag, .aesGCM, key: key, nonce: nonce, associatedData: [])
            #expect((loose == nil) == (count < 4))
        }
    }

    @Test("nonces of other lengths are refused, but AES-GCM accepts any length from one byte, also beyond OpenSSL's bound")
    func nonces() throws {
        for algorithm in AEADAlgorithm.allCases {
            let key = secret(pattern(32))
            for count in [0, 1, 11, 12, 13, 23, 24, 25, 128, 129, 1000] {
                let isTaken = algorithm == .aesGCM ? count > 0 : count == algorithm.nonceCount
                let nonce = pattern(count)
                let sealed = try? AuthenticatedCipher.seal(
                    secret(pattern(40)), algorithm, key: key, nonceNeverUsedBefore: nonce, associatedData: [9])
                #expect((sealed != nil) == isTaken, "\(algorithm) \(count)")
                guard let sealed else { continue }
                let opened = try AuthenticatedCipher.open(
                    sealed.ciphertext, tag: sealed.tag, algorithm, key: key, nonce: nonce, associatedData: [9])
                #expect(bytes(opened) == pattern(40))
                for index in 0..<16 {
                    var tag = sealed.tag
                    tag[index] ^= 0x80
                    #expect(throws: CryptoError.cannotDecrypt, "\(algorithm) \(count)") {
                        _ = try AuthenticatedCipher.open(
                            sealed.ciphertext, tag: tag, algorithm, key: key, nonce: nonce, associatedData: [9])
                    }
                }
            }
        }
    }

    @Test("a key that cannot be wrapped and a malformed wrapped key are refused")
    func keyWrap() throws {
        let wrappingKey = secret(pattern(32))
        for count in 0...40 {
            let kw = try? AESKeyWrap.kw.wrap(secret(pattern(count)), under: wrappingKey)
            #expect((kw != nil) == (count >= 16 && count % 8 == 0))
            if let kw { #expect(try bytes(AESKeyWrap.kw.unwrap(kw, under: wrappingKey)) == pattern(count)) }
            let kwp = try? AESKeyWrap.kwp.wrap(secret(pattern(count)), under: wrappingKey)
            #expect((kwp != nil) == (count >= 1))
            if let kwp { #expect(try bytes(AESKeyWrap.kwp.unwrap(kwp, under: wrappingKey)) == pattern(count)) }
            for kind in AESKeyWrap.allCases {
                #expect(throws: CryptoError.cannotDecrypt) { _ = try kind.unwrap(pattern(count), under: wrappingKey) }
            }
        }
        for count in [0, 8, 15, 17, 33, 64] {
            #expect(throws: CryptoError.keyLength) {
                _ = try AESKeyWrap.kw.wrap(secret(pattern(16)), under: secret(pattern(count)))
            }
        }
    }

    @Test("openssl's header is read on request only, and its work is bounded")
    func opensslEnc() throws {
        let password = secret("pw".utf8)
        let header = OpenSSLEnc.newHeader()
        #expect(header.count == 16 && header != OpenSSLEnc.newHeader())
        for broken in [[], Array(header.dropLast()), header + [0], [0x73] + header.dropFirst()] {
            #expect(throws: CryptoError.notOpenSSLSalted) {
                _ = try OpenSSLEnc.standard.cipher(
                    .decrypt, unauthenticated: .aesCBC, keyCount: 32, password: password, header: broken)
            }
        }
        #expect(throws: CryptoError.workTooHigh) {
            _ = try OpenSSLEnc(.pbkdf2(iterations: 10_000_001), .sha256).cipher(
                .decrypt, unauthenticated: .aesCBC, keyCount: 32, password: password, header: header)
        }
        #expect(throws: CryptoError.parameterOutOfRange) {
            _ = try OpenSSLEnc(.pbkdf2(iterations: 0), .sha256).cipher(
                .decrypt, unauthenticated: .aesCBC, keyCount: 32, password: password, header: header)
        }
        #expect(throws: CryptoError.keyLength) {
            _ = try OpenSSLEnc.standard.cipher(
                .decrypt, unauthenticated: .aesCBC, keyCount: 20, password: password, header: header)
        }
    }

    @Test("generated keys have the requested length, and DES keys have odd parity and are never weak")
    func keys() throws {
        for kind in SymmetricKey.Kind.allCases {
            for count in 0...65 {
                guard kind.allows(count) else {
                    #expect(throws: CryptoError.keyLength) { _ = try SymmetricKey.generate(kind, count: count) }
                    continue
                }
                let key = bytes(try SymmetricKey.generate(kind, count: count))
                #expect(key.count == count)
                if kind.isInsecure { #expect(key.allSatisfy { $0.nonzeroBitCount % 2 == 1 }) }
            }
            #expect(try SymmetricKey.generate(kind).count == kind.standardCount)
            #expect(try SymmetricKey.Kind(named: kind.name.uppercased()) == kind)
        }
        #expect(throws: CryptoError.unknownAlgorithm) { _ = try SymmetricKey.Kind(named: "rsa") }
    }
}
