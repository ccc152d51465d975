import OMSecrets
import Testing

@testable import OMCrypto

@Suite struct SSHSignedDataTests {
    private let key: [UInt8] = SSHBytes.string("ssh-ed25519") + SSHBytes.string([UInt8](repeating: 3, count: 32))

    private func read(_ bytes: [UInt8]) -> SSHSignedData? { SSHSignedData(bytes, key: key, algorithm: "ssh-ed25519") }

    @Test("a login and a file are read, with what a question shows")
    func readable() {
        let session = [UInt8](repeating: 7, count: 32)
        #expect(read(SSHBytes.login(key: key)) == .login(.init(session: session, user: "git", hostKey: nil)))
        let bound = SSHBytes.login(method: SSHBytes.hostBound, key: key, hostKey: [1, 2])
        #expect(read(bound) == .login(.init(session: session, user: "git", hostKey: [1, 2])))
        #expect(read(SSHBytes.file()) == .file(namespace: "git"))
        #expect(read(SSHBytes.file(namespace: "file", hash: "sha256", count: 32)) == .file(namespace: "file"))
    }

    @Test("bytes of every other form are not signed: a token, a handshake, a certificate, a cut or a longer request")
    func others() {
        let (login, file) = (SSHBytes.login(key: key), SSHBytes.file())
        var refused: [[UInt8]] = [
            [], Array("eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJyb290In0".utf8), [0x30, 0x82, 1, 0],
            [UInt8](repeating: 0x20, count: 64) + Array("TLS 1.3, client CertificateVerify\0".utf8),
            SSHBytes.login(service: "ssh-userauth", key: key), SSHBytes.login(method: "hostbased", key: key),
            SSHBytes.login(signs: 0, key: key), SSHBytes.login(signs: 2, key: key),
            SSHBytes.login(algorithm: "ssh-rsa", key: key), SSHBytes.login(key: Array(key.dropLast())),
            SSHBytes.login(key: key, kind: 51), SSHBytes.login(session: [], key: key),
            SSHBytes.login(session: [UInt8](repeating: 1, count: 65), key: key),
            SSHBytes.login(key: key, hostKey: [1]), SSHBytes.login(method: SSHBytes.hostBound, key: key),
            SSHBytes.login(user: String(repeating: "a", count: 257), key: key),
            SSHBytes.file(magic: "SSHSIH"), SSHBytes.file(namespace: ""), SSHBytes.file(reserved: "a"),
            SSHBytes.file(hash: "sha1", count: 20), SSHBytes.file(hash: "sha256"), SSHBytes.file(count: 63),
            login + [0], file + [0],
        ]
        refused += (1..<login.count).map { Array(login.prefix($0)) } + (1..<file.count).map { Array(file.prefix($0)) }
        var notText = login
        notText[36 + 1 + 4] = 0xFF
        for bytes in refused + [notText] { #expect(read(bytes) == nil, "\(bytes)") }
    }
}
