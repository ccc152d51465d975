// Client certificates in requests, through the real helper, against nginx. docs/formats/online-protocol.md, "Requests".

import Foundation
import Glibc
import OMAuth
import OMOnlineModel
import OMSecrets
import OMSystem
import OMVault
import Synchronization
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMOnline

/// Signs in the test's own process.
private struct RequestKey: QuestionSigner {
    let local: LocalSigner
    /// Called before the signature of this number, the first is 1.
    var before: @Sendable (Int) -> Void = { _ in }

    var vault: VaultPaths? { nil }

    func sign(_ use: IdentityUse, with identity: String) throws(OnlineRefusal) -> SecretBytes {
        guard case .handshake(let text, let scheme) = use else { throw .failed(.noKeyAlgorithm) }
        before(local.texts.count + 1)
        return try local.signature(of: text, scheme: scheme)
    }
}

@Suite("Client certificates in requests", .onOwnThreads) struct RequestCertificateTests {
    private static let program = Programs.path(of: "omvault-agent")
    private static let mutual = Task { try await Server("mutual") }

    private func server() async throws -> Server { try await Self.mutual.value }

    private func identity(
        _ server: Server, before: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws -> (identity: RequestIdentity, signer: LocalSigner) {
        let (chain, signer) = try server.client("p256")
        return (RequestIdentity(chain, signedBy: RequestKey(local: signer, before: before)), signer)
    }

    private func answer(_ client: RESTClient, _ address: String, redirects: Int = 0) async throws -> String {
        let request = try RESTRequest("GET", try #require(ServerURL(address)), redirects: redirects)
        let response = try await client.send(request)
        let status = response.status
        let body = try await response.wholeBody(upTo: 1 << 20).withBytes { body in
            String(decoding: body.indices.map { body[$0] }, as: UTF8.self)
        }
        return status == 200 ? body : "\(status)"
    }

    @Test("a request shows the certificate to the origin that was named, and a redirect to another one drops it for good")
    func redirects() async throws {
        let server = try await server()
        let client = RESTClient(program: Self.program, trusting: server.ca, showing: try identity(server).identity)
        #expect(try await answer(client, server.url("/whoami")) == "SUCCESS CN=p256")
        #expect(try await answer(client, server.url("/whoami", "optional")) == "SUCCESS CN=p256")
        #expect(try await answer(client, server.url("/away"), redirects: 3) == "NONE ")
        #expect(try await answer(client, server.url("/back"), redirects: 3) == "400")
        #expect(try await answer(client, server.url("/whoami")) == "SUCCESS CN=p256")
        let plain = RESTClient(program: Self.program, trusting: server.ca)
        #expect(try await answer(plain, server.url("/whoami")) == "400")
    }

    @Test("a server that closes each connection gets as many requests as before, by further helpers")
    func closing() async throws {
        let server = try await server()
        let (identity, signer) = try identity(server)
        let client = RESTClient(program: Self.program, trusting: server.ca, showing: identity)
        for _ in 0..<6 { #expect(try await answer(client, server.url("/closing")) == "CN=p256") }
        #expect(signer.texts.count == 6)
    }

    @Test("a server of TLS 1.2 alone and a foreign certificate are told as such")
    func refusals() async throws {
        let server = try await server()
        let client = RESTClient(program: Self.program, trusting: server.ca, showing: try identity(server).identity)
        await #expect(throws: RESTError.failed(.failed(.oldTLS))) { try await answer(client, server.url("/whoami", "old")) }
        let locked = RESTClient(
            program: Self.program, trusting: server.ca,
            showing: RequestIdentity(try server.client("p256").chain, signedBy: LockedKey()))
        await #expect(throws: RESTError.failed(.failed(.lockedClientKey))) {
            try await answer(locked, server.url("/whoami"))
        }
    }

    private struct LockedKey: QuestionSigner {
        var vault: VaultPaths? { nil }

        func sign(_ use: IdentityUse, with identity: String) throws(OnlineRefusal) -> SecretBytes {
            throw .failed(.lockedClientKey)
        }
    }

    private static let handshake = SigningPurpose.handshake(
        text: SigningPurpose.handshakePrefix + [UInt8](repeating: 5, count: 32), scheme: 0x0403)

    /// The helper's end of a socket whose other end signs.
    private func helper(
        _ identity: RequestIdentity, key: TokenKey? = nil, to origin: String, life: Int64 = 60_000
    ) throws -> RequestSigner {
        let keys = HelperKeys(signer: identity.signer, token: key)
        let socket = try #require(SigningSocket(keys, to: origin, showing: identity.chain, for: life))
        let end = try #require(socket.takeOtherEnd().first)
        #expect(DetachedThread.start { _ = socket.serve() } == 0)
        return RequestSigner(end, showing: identity.chain)
    }

    private func isSigned(_ helper: RequestSigner, _ purpose: SigningPurpose) async -> Bool {
        do throws(OnlineRefusal) {
            let signature = try await helper.sign(purpose)
            return signature.count > 0
        } catch {
            #expect(error == .failed(.helper))
            return false
        }
    }

    @Test(
        "a helper of requests gets four signatures of handshakes, and none for another text, for a proof or too late")
    func limits() async throws {
        let server = try await server()
        let (identity, signer) = try identity(server)
        let handshake = Self.handshake, origin = server.url("/")
        func helper(life: Int64 = 60_000) throws -> RequestSigner { try self.helper(identity, to: origin, life: life) }
        let right = try helper()
        for _ in 0..<4 { #expect(await isSigned(right, handshake)) }
        #expect(await !isSigned(right, handshake))
        #expect(signer.texts.count == 4)
        let other = try helper()
        #expect(await !isSigned(other, .assertion(at: .token)))
        #expect(await !isSigned(other, handshake))
        let transcript = try helper()
        let old = ([1, 2, 11, 13, 14, 11, 16] as [UInt8]).flatMap { (type) -> [UInt8] in [type, 0, 0, 1, 7] }
        #expect(HandshakeTranscript.isOne(old))
        #expect(await !isSigned(transcript, .handshake(text: old, scheme: 0x0403)))
        let prover = try helper()
        #expect(await !isSigned(prover, .proof(KeyProofClaims("GET", origin))))
        let late = try helper(life: 0)
        #expect(await !isSigned(late, handshake))
        #expect(signer.texts.count == 4)
    }

    @Test("a signature that comes after its time is no answer to the next question")
    func tooLate() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let other = FrameChannel(ends[1])
        let helper = RequestSigner(ends[0], showing: try #require(ClientChain([[1, 2]], of: "ada")), within: 1)
        #expect(await !isSigned(helper, Self.handshake))
        var late = SecretBuffer()
        late.write(WireID(SigningSocket.id))
        late.write(SecretBytes(copying: [7]))
        try other.send(.signature, late, within: 10_000)
        // It is there already, so no time is too short for it.
        #expect(await !isSigned(helper, Self.handshake))
        #expect(!helper.canGoOn)
    }

    @Test("whether a further request can have a signature is said at once while one is waited for", .timeLimit(.minutes(1)))
    func askedMeanwhile() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let helper = RequestSigner(
            ends[0], showing: try #require(ClientChain([[1, 2]], of: "ada")), within: 300_000)
        let asking = Task { await isSigned(helper, Self.handshake) }
        do {
            let other = FrameChannel(ends[1])
            _ = try other.receive(start: 60_000, frame: 60_000)
            #expect(!helper.canGoOn)
        }
        #expect(await !asking.value)
    }

    @Test("a helper with a certificate and a bound token has its proofs beside its four handshakes")
    func both() async throws {
        let server = try await server()
        let identity = try identity(server).identity, key = try #require(TokenKey.make()), origin = server.url("/")
        let right = try helper(identity, key: key, to: origin)
        func proof(_ address: String) -> SigningPurpose { .proof(KeyProofClaims("GET", address)) }
        for _ in 0..<4 {
            #expect(await isSigned(right, proof(origin)))
            #expect(await isSigned(right, Self.handshake))
        }
        #expect(!right.canGoOn)
        #expect(await isSigned(right, proof(origin)))
        #expect(await !isSigned(right, Self.handshake))
        let other = try helper(identity, key: key, to: origin)
        #expect(await !isSigned(other, proof("https://b.example/")))
        // The session has ended: there is no proof, and the cause is not the certificate's key.
        let ended = try helper(identity, key: key, to: origin)
        key.end()
        #expect(await !isSigned(ended, proof(origin)))
    }

    @Test("an opening has a certificate if a socket comes with it, and is read only whole")
    func opening() throws {
        let chain = try #require(ClientChain([[1, 2]], of: "ada"))
        let opening = RequestOpening(
            "https://a.example:443", trusted: nil, connect: 5, chain: chain)
        let encoded = opening.encoded()
        guard let body = encoded else { throw NoSession() }
        let bytes = body.withBytes { body in body.indices.map { body[$0] } }
        let read = try RequestOpening(decoding: bytes.span)
        #expect(read.chain == chain && read.needsSignatures)
        func isWhole(_ bytes: [UInt8]) -> Bool { (try? RequestOpening(decoding: bytes.span)) != nil }
        #expect(isWhole(bytes) && !isWhole(bytes + [0]))
        for count in bytes.indices { #expect(!isWhole(Array(bytes.prefix(count)))) }
    }

    /// How often the bytes are in the memory of this process's helpers of requests.
    private static func copies(of needle: [UInt8]) throws -> Int {
        try ProcessMemory.children(with: "--request").reduce(0) { sum, process in
            // A helper of another test may end at any moment.
            sum + ((try? ProcessMemory(of: process).copies(of: needle)) ?? 0)
        }
    }

    @Test(
        "the memory of a helper that shows the certificate has no byte of the key",
        .enabled(if: geteuid() == 0, "only root can read the memory of a protected process"))
    func memory() async throws {
        let server = try await server()
        let key = try Self.scalar(Array(try Data(contentsOf: URL(filePath: "\(server["folder"])/p256.key"))))
        let certificate = try server.client("p256").chain.certificates[0]
        let found = Mutex<[(key: Int, certificate: Int)]>([])
        // The helper has used the first signature, and waits for this one.
        let identity = try identity(server) { number in
            guard number == 2 else { return }
            let counts = (
                key: (try? Self.copies(of: key)) ?? -1, certificate: (try? Self.copies(of: Array(certificate.suffix(64)))) ?? -1
            )
            found.withLock { $0.append(counts) }
        }.identity
        let client = RESTClient(program: Self.program, trusting: server.ca, showing: identity)
        for _ in 0..<2 { #expect(try await answer(client, server.url("/closing")) == "CN=p256") }
        let counts = found.withLock { $0 }
        #expect(counts.count == 1 && counts.first?.key == 0)
        // The search finds what is there.
        #expect(counts.first.map { $0.certificate > 0 } ?? false)
    }

    /// The private number of a key of P-256 in PKCS#8.
    private static func scalar(_ pem: [UInt8]) throws -> [UInt8] {
        let lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-") }
        let der = Array(try #require(Data(base64Encoded: lines.joined())))
        let start = try #require(der.firstRange(of: [0x02, 0x01, 0x01, 0x04, 0x20])?.upperBound)
        return Array(der[start..<start + 32])
    }
}
