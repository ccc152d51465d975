// What SSH programs have signed: the request of a login (RFC 4252 section 7), and files (OpenSSH's PROTOCOL.sshsig).

/// Bytes that a key of SSH may sign. They are one of two forms, and each begins with other bytes than the other.
///
/// Attack: a program, or a machine to which the agent is forwarded, asks for the signature of a token, of a certificate, or of a
/// handshake. So bytes of any other form are never signed.
package enum SSHSignedData: Hashable, Sendable {
    case login(Login)
    /// A file, for this use: `file`, `git`, or another word.
    case file(namespace: String)

    /// A login at an SSH server.
    package struct Login: Hashable, Sendable {
        /// The connection between the SSH client and that server. No other connection has it.
        package let session: [UInt8]
        package let user: String
        /// The key of the server, of a certificate its key. Nil if the request does not name it.
        package let hostKey: [UInt8]?
    }

    private static let hostBound = "publickey-hostbound-v00@openssh.com"
    /// The longest text that is shown in a question, in bytes.
    private static let longestText = 256

    /// - Parameters:
    ///   - key: The key that signs, in SSH's form.
    ///   - algorithm: That of the signature, as ``SSHSignature/algorithm(for:flags:)`` names it.
    /// - Returns: nil for all other bytes, and for a login with another key or another algorithm.
    package init?(_ data: [UInt8], key: [UInt8], algorithm: String) {
        let read = (try? Self.login(data.span, key, algorithm)) ?? (try? Self.file(data.span))
        guard let read else { return nil }
        self = read
    }

    private static func login(
        _ bytes: Span<UInt8>, _ key: [UInt8], _ algorithm: String
    ) throws(CryptoError) -> SSHSignedData {
        let blame = CryptoError.badSignature
        var cursor = SSHCursor(bytes.indices, blame: blame)
        let session = try cursor.string(bytes)
        // A digest of the key exchange. The shortest, SHA-1's, has 20 bytes.
        guard (20...64).contains(session.count), try cursor.byte(bytes) == 50 else { throw blame }
        let user = try text(cursor.string(bytes), bytes)
        let (service, method) = (try cursor.text(bytes), try cursor.text(bytes))
        guard service == "ssh-connection", method == "publickey" || method == hostBound, try cursor.flag(bytes),
            try cursor.text(bytes) == algorithm
        else { throw blame }
        let given = try cursor.string(bytes)
        guard bytes.bytes(given) == key else { throw blame }
        var hostKey: [UInt8]?
        if method == hostBound { hostKey = SSHSignature.hostKey(in: bytes.bytes(try cursor.string(bytes))) }
        try cursor.finish()
        return .login(Login(session: bytes.bytes(session), user: user, hostKey: hostKey))
    }

    private static func file(_ bytes: Span<UInt8>) throws(CryptoError) -> SSHSignedData {
        let blame = CryptoError.badSignature
        let magic = Array("SSHSIG".utf8)
        guard bytes.count > magic.count, bytes.bytes(0..<magic.count) == magic else { throw blame }
        var cursor = SSHCursor(magic.count..<bytes.count, blame: blame)
        let namespace = try text(cursor.string(bytes), bytes)
        guard !namespace.isEmpty, try cursor.string(bytes).isEmpty else { throw blame }
        let counts = ["sha256": 32, "sha512": 64]
        guard let count = counts[try cursor.text(bytes)], try cursor.string(bytes).count == count else { throw blame }
        try cursor.finish()
        return .file(namespace: namespace)
    }

    private static func text(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(CryptoError) -> String {
        guard range.count <= longestText, let text = try? UTF8Span(validating: bytes.extracting(range)) else {
            throw .badSignature
        }
        return String(copying: text)
    }
}
