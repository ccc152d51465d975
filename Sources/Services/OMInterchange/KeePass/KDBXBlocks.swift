// The encrypted part of a KDBX file: blocks with a check value each.

internal import OMCrypto
internal import OMSecrets

enum KDBXBlocks {
    private static let part = "the check value of a block"
    private static let missingEnd = "its end, which is missing"
    private static let moreBehindEnd = "its end, behind which there is more"

    /// Compares the digest that KDBX 4 has behind its header, so that damage costs no key derivation. It needs no key.
    static func checkDigest(_ file: Span<UInt8>, _ header: KDBXHeader) throws(InterchangeError) {
        guard header.older == nil else { return }
        var cursor = KDBXCursor(in: missingEnd)
        let head = try cursor.take(header.count, in: file)
        guard (try? Digest.of(head, .sha256)) == (try cursor.take(32, in: file)) else {
            throw .damaged("the check value of its header")
        }
    }

    /// The payload of KDBX 4, decrypted block by block. Each block's HMAC is checked before it is decrypted.
    static func payload(
        _ file: Span<UInt8>, _ header: KDBXHeader, _ keys: borrowing KDBXKeys
    ) throws(InterchangeError) -> SecretBytes {
        var cursor = KDBXCursor(in: missingEnd)
        let head = file.extracting(try cursor.skip(header.count, in: file))
        _ = try cursor.skip(32, in: file)
        let tag = file.extracting(try cursor.skip(32, in: file))
        let right = try keys.tag(ofHeader: head)
        guard right.withBytes({ ConstantTime.areEqual($0, tag) }) else { throw .wrongKey }

        var payload = SecretBuffer(capacity: file.count - cursor.offset + 32)
        let cipher = try cipher(header, keys)
        var index: UInt64 = 0
        while true {
            let tag = file.extracting(try cursor.skip(32, in: file))
            let count = Int(try cursor.number(UInt32.self, in: file))
            let block = file.extracting(try cursor.skip(count, in: file))
            let right = try keys.tag(ofBlock: index, block)
            guard right.withBytes({ ConstantTime.areEqual($0, tag) }) else { throw .damaged(part) }
            // Attack: the file is cut after a whole block. The last block is empty, and its HMAC has its number.
            if count == 0 { break }
            do throws(CryptoError) { try cipher.update(block, into: &payload) } catch { throw .damaged("a block") }
            index += 1
        }
        guard cursor.offset == file.count else { throw .damaged(moreBehindEnd) }
        do throws(CryptoError) { try cipher.finish(into: &payload) } catch { throw .damaged("its last block") }
        return payload.finish()
    }

    /// The payload of KDBX 2 and 3. The cipher is around the blocks, and only their digests are checked: the format has no
    /// more.
    static func olderPayload(
        _ file: Span<UInt8>, _ header: KDBXHeader, _ older: KDBXHeader.Older, keys: borrowing KDBXKeys
    ) throws(InterchangeError) -> SecretBytes {
        let encrypted = file.extracting(header.count..<file.count)
        guard encrypted.count > 0 else { throw .damaged(missingEnd) }
        let cipher = try cipher(header, keys)
        var decrypted = SecretBuffer(capacity: encrypted.count + 32)
        do throws(CryptoError) {
            try cipher.update(encrypted, into: &decrypted)
            try cipher.finish(into: &decrypted)
        } catch {
            throw decrypted.withBytes({ hasStart($0, older) }) ? .damaged("its last block") : .wrongKey
        }
        return try decrypted.withBytes { (bytes: Span<UInt8>) throws(InterchangeError) in
            guard hasStart(bytes, older) else { throw .wrongKey }
            var cursor = KDBXCursor(in: missingEnd)
            _ = try cursor.skip(32, in: bytes)
            var payload = SecretBuffer(capacity: bytes.count)
            var index: UInt32 = 0
            while true {
                guard try cursor.number(UInt32.self, in: bytes) == index else { throw .damaged("the order of its blocks") }
                let digest = try cursor.take(32, in: bytes)
                let count = Int(try cursor.number(UInt32.self, in: bytes))
                let block = bytes.extracting(try cursor.skip(count, in: bytes))
                guard count > 0 else {
                    guard digest.allSatisfy({ $0 == 0 }) else { throw .damaged(part) }
                    break
                }
                guard var sha256 = try? Digest(.sha256) else { throw .noDigest }
                sha256.update(block)
                guard sha256.finish() == digest else { throw .damaged(part) }
                payload.append(block)
                index += 1
            }
            guard cursor.offset == bytes.count else { throw .damaged(moreBehindEnd) }
            return payload.finish()
        }
    }

    private static func hasStart(_ bytes: Span<UInt8>, _ older: KDBXHeader.Older) -> Bool {
        bytes.count >= 32 && ConstantTime.areEqual(bytes.extracting(first: 32), older.startBytes.span)
    }

    private static func cipher(
        _ header: KDBXHeader, _ keys: borrowing KDBXKeys
    ) throws(InterchangeError) -> any PayloadCipher {
        do throws(CryptoError) { return try header.cipher.work(.decrypt, key: keys.cipher, iv: header.iv) } catch {
            throw .unsupported("AES on this machine", remedy: "enable it in the settings of OpenSSL")
        }
    }
}
