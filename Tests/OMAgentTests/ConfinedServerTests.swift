// The protocol of a server's helper: its frames, the real program, and programs that pretend to be it. docs/formats/sync.md, "The
// server's helper". Tests with servers are in OMOnlineTests and OmvaultCLITests.

import COMSystem
import Foundation
import Glibc
import OMOnlineModel
import OMParcels
import OMRecords
import OMSecrets
import OMSystem
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMVault

@Suite("A server's helper", .onOwnThreads) struct ConfinedServerTests {
    private static let (vault, incarnation) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16))
    private static let program = Programs.path(of: "omvault-agent")
    private static let head = RemoteFile.head(device: 7, isSecond: false)

    // MARK: - Frames

    private static func secret(_ text: String) -> HeldSecret { HeldSecret(SecretBytes(copying: Array(text.utf8))) }

    private static func bytes(_ request: ServerHelperRequest) -> [UInt8] {
        if let message = request.encoded { return message }
        switch request.secretMessage {
        case .some(let message): return message.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        case .none: return []
        }
    }

    private static func opening(_ url: String = "https://h", _ trusted: [UInt8] = [9]) throws -> ServerHelperRequest {
        .open(try #require(ServerHelperRequest.Opening(url: url, vault: vault, incarnation: incarnation, trusted: trusted)))
    }

    @Test("each request has the bytes of the page, and reads back")
    func requests() throws {
        let requests: [(ServerHelperRequest, [UInt8])] = [
            (try Self.opening(), [1] + Self.vault + Self.incarnation + [0, 9] + Array("https://h".utf8) + [9]),
            (.files(.any), [2]), (.files(.other(than: 258, waiting: 50)), [2, 0, 0, 0, 0, 0, 0, 1, 2, 50]),
            (.bytes(.founding), [3] + Array("remote".utf8)),
            (.write([8, 9], Self.head), [4, 0, 13] + Array("00000007/head".utf8) + [8, 9]),
            (.remove(Self.head), [5] + Array("00000007/head".utf8)), (.found([7]), [6, 7]), (.remotes, [7]),
            (.use(Self.secret("ab")), [8, 97, 98]), (.refresh(Self.secret("ab")), [9, 97, 98]),
            (.logOut(Self.secret("ab")), [11, 97, 98]),
            (
                .logIn(user: "ann", password: Self.secret("pw"), device: "l"),
                [10, 0, 3] + Array("ann".utf8) + [0, 1, 108] + Array("pw".utf8)
            ),
        ]
        for (request, bytes) in requests {
            #expect(Self.bytes(request) == bytes)
            #expect(Self.bytes(try ServerHelperRequest(decoding: bytes)) == bytes)
        }
        let wrong: [[UInt8]] = [
            [], [0], [12], [1], [2, 0], [2] + [UInt8](repeating: 0, count: 8), [2] + [UInt8](repeating: 0, count: 10),
            [2] + [UInt8](repeating: 0, count: 8) + [51], [3], [3] + Array("../remote".utf8),
            [4, 0, 200, 1],
            [7, 0], [10, 0, 9], [8] + [UInt8](repeating: 65, count: ServerLogin.maximumToken + 1),
            [6] + [UInt8](repeating: 0, count: RemoteFile.founding.maximumCount + 1),
            [1] + Self.vault + Self.incarnation + [0, 0],
            [1] + Self.vault + Self.incarnation + [4, 1] + [UInt8](repeating: 97, count: 1025),
        ]
        for bytes in wrong {
            #expect(throws: MalformedBytes.self, "\(bytes.prefix(40))") { try ServerHelperRequest(decoding: bytes) }
        }
    }

    @Test("each refusal has its bytes, and its meaning for the agent")
    func refusals() throws {
        let refusals: [(ServerRefusal, [UInt8], passes: Bool)] = [
            (.online(.unreachable(.refused)), [1, 4, 2], true), (.online(.untrusted(.name)), [1, 5, 2], true),
            (.online(.rejected), [1, 1], false), (.online(.failed(.serverError, status: 500)), [1, 6, 1, 1, 1, 244, 0], true),
            (.online(.failed(.unsafeAddress)), [1, 6, 10, 0, 0], false), (.loggedOut, [2], false), (.missing, [3], true),
            (.conflict, [4], false), (.full, [5], false), (.refused(status: 422), [6, 1, 166], false),
        ]
        for (refusal, bytes, passes) in refusals {
            #expect(ServerHelperReply.failed(refusal).encoded == [0] + bytes && refusal.passes == passes, "\(refusal)")
            guard case .failed(refusal) = try Self.reply([0] + bytes, to: .remotes) else {
                Issue.record("\(refusal)")
                continue
            }
        }
    }

    private static func reply(_ bytes: [UInt8], to request: ServerHelperRequest) throws -> ServerHelperReply {
        try ServerHelperReply(decoding: bytes.span, to: request)
    }

    @Test("an answer that does not fit its request is refused")
    func misfits() throws {
        let listing = [4] + ServerListing(change: 1, []).encoded
        let tokens: [UInt8] = [7, 0, 0, 0, 9, 0, 0, 0, 1, 65, 0, 0, 0, 1, 66]
        let fitting: [(ServerHelperRequest, [UInt8])] = [
            (.write([], Self.head), [1]), (.bytes(Self.head), [2]), (.bytes(Self.head), [3, 1]), (.files(.any), listing),
            (.files(.other(than: 1)), [5]), (.remotes, [6] + Self.vault + Self.incarnation), (.refresh(Self.secret("r")), tokens),
        ]
        for (request, bytes) in fitting { _ = try Self.reply(bytes, to: request) }
        let misfits: [(ServerHelperRequest, [UInt8])] = [
            (.remotes, []), (.remotes, [0]), (.remotes, [0, 7]), (.remotes, [1]), (.bytes(Self.head), [1]),
            (.files(.any), [5]),
            (.files(.any), [2]), (.files(.other(than: 1)), [4]), (.write([], Self.head), [2]), (.write([], Self.head), [1, 0]),
            (.bytes(Self.head), listing), (.bytes(Self.head), [3] + [UInt8](repeating: 0, count: Self.head.maximumCount + 1)),
            (.remotes, [6] + Self.vault), (.remotes, tokens), (.refresh(Self.secret("r")), tokens + [0]),
            (.refresh(Self.secret("r")), Array(tokens.dropLast())), (.remotes, [8]),
        ]
        for (request, bytes) in misfits {
            #expect(throws: MalformedBytes.self, "\(bytes.prefix(40))") { try Self.reply(bytes, to: request) }
        }
    }

    // MARK: - The program

    @Test("without its user's socket, or with bytes that are no request, the helper ends; an unsafe address it refuses")
    func program() throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let piped = AgentProcess.spawnDetached(Self.program, ["--server"], ends[0])
        #expect(om_wait(piped) == 2)
        for end in ends { close(end) }
        for message in [[], [2], [1, 2, 3]] as [[UInt8]] { #expect(try Self.answer(to: [message]).code == 1) }
        let twice = try Self.answer(to: [Self.bytes(Self.opening("https://localhost:1", [])), Self.bytes(Self.opening())])
        #expect(twice.code == 1 && twice.replies == [[1]])
        let http = try Self.answer(to: [Self.bytes(Self.opening("http://vault.example.org", []))])
        #expect(http.replies == [ServerHelperReply.failed(.online(.failed(.unsafeAddress))).encoded] && http.code == 0)
        let garbage = try Self.answer(to: [Self.bytes(Self.opening("https://localhost:1", [65]))])
        #expect(garbage.replies == [ServerHelperReply.failed(.online(.failed(.unusableTrust))).encoded])
        // No one listens at this port.
        let closed = try Self.answer(to: [Self.bytes(Self.opening("https://localhost:1", [])), [7]])
        #expect(closed.replies == [[1], ServerHelperReply.failed(.online(.unreachable(.refused))).encoded])
    }

    private static func answer(to messages: [[UInt8]]) throws -> (replies: [[UInt8]], code: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(om_socket_pair(&ends) == 0)
        let child = AgentProcess.spawnDetached(program, ["--server"], ends[1])
        close(ends[1])
        let replies = Self.replies(FrameChannel(ends[0]), messages)
        return (replies, om_wait(child))
    }

    private static func replies(_ channel: consuming FrameChannel, _ messages: [[UInt8]]) -> [[UInt8]] {
        let end = bootMilliseconds() + 60_000
        var replies: [[UInt8]] = []
        for message in messages {
            try? RemoteMessage.send(message, .question, over: channel, until: end)
            if let reply = try? RemoteMessage.receive(.answer, upTo: 100, from: channel, until: end) { replies.append(reply) }
        }
        return replies
    }

    // MARK: - Impostors

    /// Keeps a login in memory, and counts what is done with it.
    private final class Keeper: ServerLoginKeeper {
        var held: ServerLogin?
        var kept: [String] = []

        init(_ access: String, expires: Int64 = .max) { held = Keeper.login("r1", access, expires) }

        static func login(_ refresh: String, _ access: String, _ expires: Int64) -> ServerLogin? {
            ServerLogin(
                refresh: SecretBytes(copying: Array(refresh.utf8)), access: SecretBytes(copying: Array(access.utf8)),
                expires: expires, user: "ann", trusted: [])
        }

        func login() -> ServerLogin? { held }

        func keep(_ login: ServerLogin) {
            held = login
            kept.append(
                login.refresh.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) })
        }

        func refreshing<R>(_ body: () -> R) -> R { body() }
    }

    /// Runs a program that writes each message to the file `asked`, and answers with the next of these lines of Python.
    private static func server(
        answering answers: [String], in folder: TestFolder, _ keeper: Keeper, knowing known: KnownFiles = KnownFiles()
    ) async throws -> ConfinedServer {
        let program = try await ServerImpostors.program(answers, in: folder)
        return ConfinedServer(
            at: "https://h", vault: vault, incarnation: incarnation, login: keeper, knowing: known, helper: program)
    }

    private static func asked(_ folder: TestFolder) throws -> [UInt8] {
        try String(contentsOfFile: folder.file("asked"), encoding: .utf8).split(separator: "\n").map {
            UInt8($0.prefix(2), radix: 16) ?? 0
        }
    }

    @Test("a token is refreshed once, kept before it is used, and the request is sent again; a second 401 ends the login")
    func refreshes() async throws {
        let tokens = "b'\\x07' + (900).to_bytes(4, 'big') + b'\\0\\0\\0\\2a2' + b'\\0\\0\\0\\2r2'"
        let unauthorised = "b'\\0\\1\\1'"
        let folder = try TestFolder()
        let keeper = Keeper("a1")
        let remote = try await Self.server(
            answering: ["b'\\1'", "b'\\1'", unauthorised, tokens, "b'\\1'", "b'\\3x'"], in: folder, keeper)
        #expect(try remote.bytes(of: Self.head) == [UInt8(ascii: "x")])
        #expect(keeper.kept == ["r2"])
        #expect(try Self.asked(folder) == [1, 8, 3, 9, 8, 3])
        // A token that ends soon is refreshed first.
        let (soon, other) = (Keeper("a1", expires: Int64(time(nil)) + 20), try TestFolder())
        let early = try await Self.server(answering: ["b'\\1'", tokens, "b'\\1'", "b'\\3x'"], in: other, soon)
        _ = try early.bytes(of: Self.head)
        #expect(try soon.kept == ["r2"] && Self.asked(other) == [1, 9, 8, 3])
        // The new one is refused too, or the refresh is.
        let (third, fourth) = (try TestFolder(), try TestFolder())
        let twice = try await Self.server(
            answering: ["b'\\1'", "b'\\1'", unauthorised, tokens, "b'\\1'", unauthorised], in: third, Keeper("a1"))
        #expect(throws: RemoteFailure.server(.loggedOut)) { try twice.bytes(of: Self.head) }
        let ended = try await Self.server(answering: ["b'\\1'", "b'\\1'", unauthorised, "b'\\0\\2'"], in: fourth, Keeper("a1"))
        #expect(throws: RemoteFailure.server(.loggedOut)) { try ended.bytes(of: Self.head) }
        let none = Keeper("a1")
        none.held = nil
        let nothing = try await Self.server(answering: [], in: try TestFolder(), none)
        #expect(throws: RemoteFailure.server(.loggedOut)) { try nothing.files() }
    }

    @Test("another process that refreshed meanwhile is noticed: its token is used, and none is asked for")
    func refreshedElsewhere() async throws {
        let folder = try TestFolder()
        let keeper = Keeper("a1")
        let remote = try await Self.server(
            answering: ["b'\\1'", "b'\\1'", "b'\\2'", "b'\\0\\1\\1'", "b'\\1'", "b'\\2'"], in: folder, keeper)
        #expect(try remote.bytes(of: Self.head) == nil)
        keeper.held = Keeper.login("r9", "a9", .max)
        #expect(try remote.bytes(of: Self.head) == nil)
        #expect(try keeper.kept.isEmpty && Self.asked(folder) == [1, 8, 3, 3, 8, 3])
    }

    @Test("a file whose digest is known is not read, and a list that has not changed is one short answer")
    func knownFiles() async throws {
        var known = KnownFiles()
        known.founding = [1]
        known.add([2, 2])
        let listing = ServerListing(
            change: 7,
            [
                .init(Self.head, digest: PublicHash.hash([2, 2])), .init(.heads(device: 7), digest: PublicHash.hash([3])),
                .init(.head(device: 8, isSecond: false), digest: PublicHash.hash([9])),
            ])
        let list = "bytes.fromhex('04\(Hex.encode(listing.encoded))')"
        let folder = try TestFolder()
        let remote = try await Self.server(
            answering: ["b'\\1'", "b'\\1'", list, "b'\\3\\3'", "b'\\5'", "b'\\3\\4'", "b'\\3\\4'"], in: folder, Keeper("a1"),
            knowing: known)
        #expect(try Set(remote.files()) == Set([.founding] + listing.entries.map(\.file)))
        #expect(try remote.bytes(of: .founding) == [1] && remote.bytes(of: Self.head) == [2, 2])
        #expect(try remote.bytes(of: .heads(device: 7)) == [3] && remote.bytes(of: .heads(device: 7)) == [3])
        #expect(try remote.list() == listing && remote.files().count == 4)
        // Attack: a server has other bytes than it lists. They are not remembered as those that it lists.
        for _ in 0..<2 { #expect(try remote.bytes(of: .head(device: 8, isSecond: false)) == [4]) }
        #expect(try Self.asked(folder) == [1, 8, 2, 3, 2, 3, 3])
    }

    @Test("409 to a head or a pack is a clone, and to other files a refusal; a remote that is there is not made")
    func conflicts() async throws {
        let folder = try TestFolder()
        let conflict = "b'\\0\\4'"
        let remote = try await Self.server(
            answering: ["b'\\1'", "b'\\1'"] + [String](repeating: conflict, count: 4), in: folder, Keeper("a1"))
        #expect(throws: RemoteFailure.server(.conflict)) { try remote.write([1], to: Self.head) }
        #expect(throws: RemoteFailure.server(.conflict)) { try remote.write([1], to: .pack(device: 7, number: 1)) }
        let message = RemoteFile.message(mailbox: Self.vault, number: 1)
        #expect(throws: RemoteFailure.server(.refused(status: 409))) { try remote.write([1], to: message) }
        #expect(throws: RemoteFailure.storage(.exists)) { try remote.make(founding: [1]) }
        #expect(try Self.asked(folder) == [1, 8, 4, 4, 4, 6], "a refusal does not end the helper")
    }

    @Test("a helper that lies is an error, and ends")
    func impostors() async throws {
        for answer in ["b'\\2'", "b''", "b'\\x09'", "b'\\5'", "b'\\4\\1'", "b'\\7'", "b'\\0\\7'"] {
            let folder = try TestFolder()
            let remote = try await Self.server(answering: ["b'\\1'", "b'\\1'", answer], in: folder, Keeper("a1"))
            #expect(throws: RemoteFailure.helper(.misbehaved), "\(answer)") { try remote.files() }
        }
    }
}

/// Programs that take messages in one part each, and answer with lines of Python.
enum ServerImpostors {
    static func program(_ answers: [String], in folder: TestFolder) async throws -> String {
        let program = folder.file("omvault-agent")
        let text = """
            #!/usr/bin/python3
            import os
            def take(count):
                data = b''
                while len(data) < count:
                    data += os.read(3, count - len(data)) or exit(0)
                return data
            for answer in [\(answers.joined(separator: ", "))]:
                message = take(int.from_bytes(take(8)[4:], 'big'))
                with open(\(String(reflecting: folder.file("asked"))), 'a') as asked: asked.write(message[1:].hex() + '\\n')
                body = b'\\0' + answer
                data = bytes([0x4f, 0x41, \(AgentProtocol.version), 0xa0]) + len(body).to_bytes(4, 'big') + body
                while data: data = data[os.write(3, data):]
            take(1)

            """
        // Another process writes the file. Otherwise a child of another test could keep it open for writing, and block its start.
        let copy = ["/usr/bin/install", "-m", "700", try folder.write(text, to: "script"), program]
        try #require(try await run(copy, in: folder).status == 0)
        return program
    }
}
