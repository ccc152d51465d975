// The computations that a case can ask for, each run through the code the product itself uses.

internal import OMCrypto
internal import OMSecrets

/// A digest of a message.
struct DigestCheck: Check {
    let algorithm: DigestAlgorithm
    let message: [UInt8]
    let digest: [UInt8]

    func run() -> Outcome {
        guard let computed = try? Digest.of(message, algorithm) else {
            return .refused("\(algorithm) is not available")
        }
        return computed == digest ? .agrees : .differs("the digest is another")
    }
}

/// HMAC-SHA-256, cut to the tag's length; `count` is the length that the file's parameters promise.
struct HMACCheck: Check {
    let key: [UInt8]
    let message: [UInt8]
    let tag: [UInt8]
    let count: Int

    func run() -> Outcome {
        guard tag.count == count else { return .refused("the tag has not \(count) bytes") }
        let full = HMACSHA256.tag(keyBytes: key.span) { $0(message.span) }
        let agrees = full.withBytes { ConstantTime.areEqual($0.extracting(0..<count), tag.span) }
        return agrees ? .agrees : .differs("the tag is another")
    }
}

/// HKDF-SHA-256.
struct HKDFCheck: Check {
    let keyMaterial: [UInt8]
    let salt: [UInt8]
    let info: [UInt8]
    let count: Int
    let output: [UInt8]

    func run() -> Outcome {
        guard count <= HKDF.maximumCount else { return .refused("more than HKDF gives") }
        let derived = HKDF.deriveBytes(
            from: SecretBytes(copying: keyMaterial), salt: salt.span, info: info, count: count)
        return derived.isEqual(to: SecretBytes(copying: output)) ? .agrees : .differs("the output is another")
    }
}

/// XChaCha20-Poly1305, both ways; of an invalid case only the opening says anything.
struct AEADCheck: Check {
    let key: [UInt8]
    let nonce: [UInt8]
    let associatedData: [UInt8]
    let message: [UInt8]
    let sealed: [UInt8]
    let expectation: Expectation

    func run() -> Outcome {
        guard nonce.count == 24 else { return .refused("the nonce has not 24 bytes") }
        let key = SecretBytes(copying: key)
        let message = SecretBytes(copying: message)
        do {
            let opened = try AEAD.openRaw(nonce + sealed, key, associatedData: associatedData)
            guard expectation != .invalid else { return .agrees }
            guard opened.isEqual(to: message) else { return .differs("the opened message is another") }
        } catch {
            return .refused("it does not open")
        }
        let box = AEAD.sealRaw(message, key, nonce: nonce, associatedData: associatedData)
        return box == nonce + sealed ? .agrees : .differs("the sealed bytes are others")
    }
}

/// Argon2id version 1.3 with one lane, as raw output.
struct Argon2idCheck: Check {
    let password: [UInt8]
    let salt: [UInt8]
    let memoryKiB: UInt32
    let passes: UInt32
    let output: [UInt8]

    func run() -> Outcome {
        let password = SecretBytes(copying: password)
        guard
            let derived = try? Argon2id.deriveRaw(
                password, salt: salt, memoryKiB: memoryKiB, passes: passes, count: output.count)
        else { return .refused("not enough memory") }
        return derived.isEqual(to: SecretBytes(copying: output)) ? .agrees : .differs("the output is another")
    }
}

/// A PHC string of Argon2id and a password.
struct EncodedArgon2idCheck: Check {
    let encoded: String
    let password: [UInt8]

    func run() -> Outcome {
        Argon2id.verifyRaw(SecretBytes(copying: password), encoded: encoded)
            ? .agrees : .refused("the password does not verify")
    }
}

/// A stored `{name}…` string and a password.
struct StoredHashCheck: Check {
    let stored: String
    let password: [UInt8]
    /// Whether the string is one that ``SaltedHash`` writes: then it must write exactly this one.
    let isWritten: Bool

    func run() -> Outcome {
        let secret = SecretBytes(copying: password)
        do {
            let hash = try StoredHash(parsing: stored)
            guard try hash.matches(secret) else { return .refused("the password does not verify") }
            guard isWritten else { return .agrees }
            let salt = hash.salt.isEmpty ? nil : String(decoding: hash.salt, as: UTF8.self)
            let written = try SaltedHash.string(of: secret, algorithm: hash.algorithm, saltHex: salt)
            return written.isEqual(to: SecretBytes(copying: Array(stored.utf8)))
                ? .agrees : .differs("the string that is written is another")
        } catch {
            return .refused("\(error)")
        }
    }
}
