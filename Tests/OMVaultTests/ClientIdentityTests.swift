import Foundation
import OMCrypto
import OMItems
import OMRecords
import OMSecrets
import TestSupport
import Testing

@testable import OMVault

/// Identities in a vault, by the library's calls.
@Suite struct ClientIdentityTests {
    private let home: Home

    init() throws {
        home = try Home()
        try home.create()
    }

    private static func run(_ words: [String], in folder: TestFolder) async throws {
        let ran = try await TestSupport.run(words, in: folder)
        try #require(ran.status == 0, "\(ran.errors)")
    }

    /// A self-signed certificate for `key`.
    private func certificate(_ key: borrowing PrivateKey, _ name: String) async throws -> Certificate {
        let folder = try TestFolder()
        let text = KeyText.pem(unencryptedPKCS8: try key.unencryptedPKCS8())
        _ = try folder.write(text.withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }, to: "key")
        try await Self.run(
            ["/usr/bin/openssl", "req", "-x509", "-new", "-key", "key", "-subj", "/CN=\(name)", "-days", "9", "-out", "crt"],
            in: folder)
        return try #require(
            try Certificate.all(in: SecretBytes(copying: Array(Data(contentsOf: URL(filePath: folder.file("crt")))))).first)
    }

    @Test("an identity is stored once, with the level of the SDK, and never replaced")
    func importing() async throws {
        let key = try PrivateKey.generate(.ed25519)
        let other = try PrivateKey.generate(.ed25519)
        let (own, foreign) = (try await certificate(key, "ada"), try await certificate(other, "ada"))
        let new = try NewClientIdentity(key, certificates: [own])
        #expect(new.name == "ada")
        let stored = try home.unlock().importIdentities([new])
        #expect(stored.map(\.isNew) == [true] && stored[0].identity.level == .highest)
        #expect(try home.unlock().importIdentities([new]).map(\.isNew) == [false])
        #expect(try home.unlock().clientIdentities() == [stored[0].identity])
        #expect(stored[0].identity.item.details.expires == new.description.notAfter)
        let second = try NewClientIdentity(other, certificates: [foreign])
        #expect(throws: VaultError.itemExists(try ClientIdentity.itemName("ada"))) {
            try home.unlock().importIdentities([try second.named("bea"), second])
        }
        // All or none.
        #expect(try home.unlock().clientIdentities().map(\.name) == ["ada"])
        #expect(try home.unlock().clientIdentity(named: "ada").certificate == own)
    }

    @Test("a stored identity whose private key has other bytes is not the same one")
    func changedKey() async throws {
        let key = try PrivateKey.generate(.ed25519)
        let new = try NewClientIdentity(key, certificates: [await certificate(key, "ada")])
        _ = try home.unlock().importIdentities([new])
        try home.unlock().edit { edit throws(VaultError) in
            try edit.put(secret("changed"), at: FieldPath(ClientIdentity.itemName("ada"), FieldName("private")))
        }
        #expect(throws: VaultError.itemExists(try ClientIdentity.itemName("ada"))) { try home.unlock().importIdentities([new]) }
    }

    @Test("key and certificate must belong together, and one key has one certificate")
    func pairs() async throws {
        let key = try PrivateKey.generate(.ed25519)
        let other = try PrivateKey.generate(.ed25519)
        let (own, twin) = (try await certificate(key, "ada"), try await certificate(key, "twin"))
        let foreign = try await certificate(other, "other")
        #expect(throws: CryptoError.noCertificate) { try NewClientIdentity(key, certificates: []) }
        #expect(throws: CryptoError.foreignCertificate) { try NewClientIdentity(key, certificates: [foreign]) }
        #expect(throws: CryptoError.severalCertificates) { try NewClientIdentity(key, certificates: [own, twin]) }
        let new = try NewClientIdentity(key, certificates: [foreign, own])
        #expect(new.certificate == own && new.chain == [foreign])
    }

    @Test("a key waits for its certificate, and attach gives it one")
    func attaching() async throws {
        let key = try PrivateKey.generate(.ed25519)
        try home.unlock().addIdentity("db", key: key)
        let waiting = try home.unlock().clientIdentity(named: "db")
        #expect(waiting.certificate == nil && waiting.chain.isEmpty)
        let new = try NewClientIdentity(key, certificates: [await certificate(key, "db")])
        try home.unlock().attach(new, to: waiting)
        #expect(throws: VaultError.changedMeanwhile(waiting.item.name, revision: 2)) {
            try home.unlock().attach(new, to: waiting)
        }
        let attached = try home.unlock().clientIdentity(named: "db")
        #expect(attached.certificate == new.certificate)
        #expect(throws: VaultError.unchanged) { try home.unlock().attach(new, to: attached) }
    }
}
