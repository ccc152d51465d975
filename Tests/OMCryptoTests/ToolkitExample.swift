// The example of docs/guide/toolkit-from-swift.md, with public names only.
// ToolkitExampleTests runs it; LibraryTests compares the page with this file.

import OMCrypto
import OMSecrets

/// As text in hexadecimal digits. `DigestAlgorithm(named: "sha256")` is the same algorithm by its name.
func sha256(of bytes: [UInt8]) throws -> String {
    let hex = Array("0123456789abcdef")
    let digest = try Digest.of(bytes, .sha256)
    return String(digest.flatMap { [hex[Int($0 >> 4)], hex[Int($0 & 15)]] })
}

/// The stored value of a password on a server: Argon2id with a new salt.
func storedHash(of password: borrowing Password) throws -> String {
    try PasswordHash.make(password.bytes).text
}

func isRight(_ password: borrowing Password, for stored: String) throws -> Bool {
    try PasswordHash(parsing: stored).matches(password.bytes)
}

/// Fills the given buffer with the next bytes, and returns their number. A file or a socket does the same.
func reading(_ bytes: [UInt8]) -> ByteSource {
    var read = 0
    return { room in
        let count = min(room.count, bytes.count - read)
        for index in 0..<count { room[index] = bytes[read + index] }
        read += count
        return count
    }
}

func encrypt(_ message: [UInt8], _ password: borrowing Password) throws -> [UInt8] {
    var file: [UInt8] = []
    try FileSealer(password: password).seal(from: reading(message)) { piece in
        for index in piece.indices { file.append(piece[index]) }
    }
    return file
}

func decrypt(_ file: [UInt8], _ password: borrowing Password) throws -> [UInt8] {
    var message: [UInt8] = []
    let source = reading(file)
    try SealedFile(from: source).unlock(with: password).open(from: source) { piece in
        for index in piece.indices { message.append(piece[index]) }
    }
    return message
}

/// The signature, and the public key that checks it.
func signed(_ message: [UInt8], _ key: borrowing PrivateKey) throws -> (signature: [UInt8], spki: [UInt8]) {
    (try key.sign(message, .ed25519), try key.publicKey().spki())
}

func check(_ signature: [UInt8], of message: [UInt8], _ spki: [UInt8]) throws {
    let key = try KeyFile(SecretBytes(copying: spki)).publicKey()
    try key.verify(signature, of: message, .ed25519)
}
