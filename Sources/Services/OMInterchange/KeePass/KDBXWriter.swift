// KDBX 4, as KeePass and KeePassXC read it: docs/formats/kdbx.md.

internal import OMCrypto
package import OMSecrets

/// Writes an encrypted file of KeePass.
package enum KDBXWriter {
    /// - Parameter now: The time of groups, and of entries without one, in seconds since 1970.
    /// - Throws: ``InterchangeError/needsPassword`` without a password and a key file, ``InterchangeError/damagedKeyFile``,
    ///   ``InterchangeError/tooMuch(_:)`` without memory for Argon2, and for more than the reader takes.
    package static func write(
        _ entries: [ForeignEntry], key: borrowing ForeignKey, now: Int64
    ) throws(InterchangeError) -> ForeignFile {
        try write(entries, key: key, now: now, cost: Argon2.Parameters(memoryKiB: 64 << 10, passes: 10, lanes: 2))
    }

    /// The same. The key derivation does nothing against guessing: for the fuzzer only.
    package static func write(
        unstretched entries: [ForeignEntry], key: borrowing ForeignKey, now: Int64
    ) throws(InterchangeError) -> ForeignFile {
        try write(entries, key: key, now: now, cost: Argon2.Parameters(memoryKiB: 8, passes: 1, lanes: 1))
    }

    /// The same with another cost, cipher and variant of Argon2, for tests.
    static func write(
        _ entries: [ForeignEntry], key: borrowing ForeignKey, now: Int64, cost: Argon2.Parameters,
        cipher: KDBXCipher = .aes256, variant: Argon2.Variant = .argon2id, limits: KeePassLimits = .standard
    ) throws(InterchangeError) -> ForeignFile {
        let plan = try KeePassPlan(entries, limits)
        let derivation = KDBXDerivation.argon2(variant, .v19, cost, salt: Random.bytes(32), secret: [], data: [])
        let header = KDBXHeader(seed: Random.bytes(32), iv: Random.bytes(cipher.ivCount), cipher: cipher, derivation)
        let keys = try KDBXKeys(key, seed: header.seed, header.derivation, .standard)
        let file = try KDBXPayload(header, keys)
        let streamKey = SecretBytes.random(64)
        try writeInnerHeader(plan, streamKey, to: file)
        guard let stream = try KeyStream.ofValues(3, key: streamKey) else { throw .noDigest }
        let document = KeePassXMLWriter(stream, to: file, now: now, atMost: limits.unpackedBytes)
        try document.write(plan)
        let bytes = try file.finish()
        guard bytes.count <= KDBXReader.longestFile else { throw .tooMuch("bytes of the file") }
        return ForeignFile(bytes: bytes, changes: plan.changes)
    }

    private static func writeInnerHeader(
        _ plan: KeePassPlan, _ streamKey: borrowing SecretBytes, to file: KDBXPayload
    ) throws(InterchangeError) {
        func head(_ field: KDBXInnerHeader.Field, _ count: Int) throws(InterchangeError) {
            try file.append(([field.rawValue] + UInt32(count).littleEndianBytes).span)
        }
        try head(.streamID, 4)
        try file.append(UInt32(3).littleEndianBytes.span)
        try head(.streamKey, streamKey.count)
        try streamKey.withBytes { (key: Span<UInt8>) throws(InterchangeError) in try file.append(key) }
        for attachment in plan.attachments {
            guard attachment.value.count < Int32.max else { throw .tooMuch("bytes of an attachment") }
            try head(.attachment, attachment.value.count + 1)
            // The flag of a value that programs keep encrypted in memory.
            try file.append([1].span)
            try attachment.value.withBytes { (content: Span<UInt8>) throws(InterchangeError) in try file.append(content) }
        }
        try head(.end, 0)
    }
}
