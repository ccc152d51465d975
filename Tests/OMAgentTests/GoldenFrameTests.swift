// One frame of each form, as version 2 of the protocol has it: Tests/Golden/frames.txt. Another byte needs another version.

import Foundation
import OMAuth
import OMOnlineModel
import OMParcels
import OMRecords
import OMSecrets
import OMSystem
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMItems
@testable import OMVault

private let id = [UInt8](0..<16), paths = VaultPaths(vault: "/v.omv", device: "/d")!
private let narrowing = TokenNarrowing(scopes: ScopeSet(["x"]) ?? ScopeSet(), resource: "u:r")!
private let later = [UInt8](16..<32)

@Suite("The golden frames") struct GoldenFrameTests {
    @Test("requests, answers, questions and a session's ticket keep their bytes, and read back as they were written")
    func frames() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Golden/frames.txt")
        let golden = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        var written: [String] = []
        for (name, make) in Self.requests {
            var body = SecretBuffer(), again = SecretBuffer()
            let kind = try make().encode(into: &body)
            let kindAgain = try body.withBytes { bytes in try AgentRequest.decode(kind.rawValue, bytes) }.encode(into: &again)
            written.append("\(name) \(kind.rawValue) \(Self.hex(body))")
            #expect(kind == kindAgain && Self.hex(body) == Self.hex(again), "\(name)")
        }
        let errors: [(String, @Sendable () throws -> AgentReply)] = try Self.errors().enumerated().map { index, error in
            ("error-\(index)", { .failure(error) })
        }
        for (name, make) in Self.replies + errors {
            var body = SecretBuffer(), again = SecretBuffer()
            let kind = try make().encode(into: &body)
            let kindAgain = try body.withBytes { bytes in try AgentReply.decode(kind.rawValue, bytes) }.encode(into: &again)
            written.append("\(name) \(kind.rawValue) \(Self.hex(body))")
            #expect(kind == kindAgain && Self.hex(body) == Self.hex(again), "\(name)")
        }
        for (name, make) in Self.questions {
            let body = Self.hex(of: make()) ?? ""
            #expect(try Self.questionAgain(body) == body, "\(name)")
            // The frame begins with the question's number, which differs each time.
            written.append("\(name) \(FrameKind.question.rawValue) \(body.dropFirst(32))")
        }
        for (name, task, make) in Self.answers {
            let body = Self.hex(make().encoded(id, task)), bytes = try Hex.decode(body)
            written.append("\(name) \(FrameKind.answer.rawValue) \(body)")
            #expect(Self.hex(try OnlineReply.decode(bytes.span, to: id, task).encoded(id, task)) == body, "\(name)")
        }
        written.append("ticket 0 \(try Self.ticket())")
        // For a new form, the failure prints the line that frames.txt lacks.
        #expect(written == golden, "\(Set(written).symmetricDifference(golden).sorted())")
        #expect(try Set(Self.errors().map(\.entry.tag)) == Set(1...49))
    }

    private static func questionAgain(_ body: String) throws -> String? {
        let bytes = try Hex.decode(body)
        return hex(of: try OnlineQuestion(decoding: bytes.span))
    }

    /// The frame as it is written, and written again after it was read.
    private static func ticket() throws -> String {
        func hex(_ bytes: borrowing SecretBytes) -> String {
            bytes.withBytes { bytes in Hex.encode(bytes.indices.map { bytes[$0] }) }
        }
        let clock = ClockReading(wall: 1, sinceBoot: 2, bootID: id)
        let ticket = SessionEntry(try kept(), at: clock).encoded()
        let again = try ticket.withBytes { bytes in try SessionEntry.decode(bytes, at: clock) }.encoded()
        let (first, second) = (hex(ticket), hex(again))
        #expect(first == second)
        return first
    }

    private static func hex(_ body: borrowing SecretBuffer) -> String {
        body.withBytes { bytes in Hex.encode(bytes.indices.map { bytes[$0] }) }
    }

    private static func hex(of question: consuming OnlineQuestion) -> String? {
        switch question.encoded() {
        case .some(let body): hex(body)
        case .none: nil
        }
    }

    // MARK: - One frame of each form

    private static func name(_ text: String) throws -> ItemName { try ItemName(text) }
    private static func field(_ text: String) throws -> FieldName { try FieldName(text) }
    private static func values() throws -> FieldValues {
        var values = FieldValues()
        try values.put(secret("pw"), at: field("password"))
        try values.put(secret(""), at: field("note"))
        return values
    }
    private static func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8).span) }
    private static func item() throws -> Item {
        Item(
            name: try name("git"), level: .highest, id: id, revision: 3, created: 4, modified: 5, isTrashed: true,
            details: ItemDetails(type: .apiKey, tags: [try ItemTag("t")], expires: 9),
            fields: [
                Item.Field(name: try field("token"), count: 6), Item.Field(name: try field("user"), count: 3, shownValue: "ada"),
            ])
    }
    private static func change() throws -> ItemChange {
        var change = ItemChange(set: try values(), removing: [try field("user")])
        (change.shown, change.concealed) = ([try field("url")], [try field("host")])
        (change.type, change.expires) = (.becomes(.login), .removed)
        (change.addedTags, change.removedTags) = ([try ItemTag("a")], [try ItemTag("b"), try ItemTag("c")])
        return change
    }
    private static func login() throws -> LoginReference {
        LoginReference(
            state: "/s", device: "/d",
            key: LoginKey(
                profile: try ProfileName("corp"), user: try UserName("ada"), server: "https://a.example",
                domain: try IdentityDomain("acme")))!
    }
    private static let service = OnlineService(
        .basic(
            BasicService(
                login: "https://a.example/in", logout: "https://a.example/out", requiredTokens: ["A"], sendsHeadersAtLogout: true)
        ),
        domain: .init("acme", header: "X-D"), headers: [.init("X-A", "b")], trusted: [1, 2, 3],
        profile: "https://a.example/p", deadlines: OnlineDeadlines(connect: 1, total: 600_000))
    private static let oauth = [
        OnlineService(.oauth(OAuthService(.discovery("https://a.example/d"), clientID: "c", scopes: ["x", "y"]))),
        OnlineService(
            .oauth(
                OAuthService(
                    .token("https://a.example/t", revocation: "https://a.example/r"), clientID: "c", includesClientHeader: true))),
        OnlineService(
            .oauth(OAuthService(.token("https://a.example/t", revocation: nil), clientID: "c", grant: .clientCredentials))),
        OnlineService(
            .oauth(
                OAuthService(
                    .discovery("https://a.example/d"), clientID: "c", issuer: "https://a.example", origins: ["https://b.example"])
            )),
    ]
    private static func access() -> AccessToken { AccessToken(secret("at"), scopes: ScopeSet(["x", "y"]) ?? ScopeSet()) }
    private static func accessWithIDToken() -> AccessToken {
        AccessToken(secret("at"), scopes: ScopeSet(["x", "y"]) ?? ScopeSet(), idToken: secret("it"))
    }
    private static let oamms = OnlineService(
        .oamms(OAMMSService("https://a.example:14100", serviceDomain: "d", application: "corp")))
    private static func kept() throws -> NewSession {
        NewSession(
            login: try login(), profile: ProfileDigest([UInt8](repeating: 7, count: 32))!, mode: .online,
            limits: SessionLimits(survivesRestart: true, idle: 60, session: nil, warningPercentage: 20), release: .allow,
            serverPart: NewSession.ServerPart(
                service: oauth[0], clientSecret: secret("cs"), logout: 9, session: secret("tokens"), access: access(),
                expires: 77), origins: ["https://a.example:443"])
    }
    private static func session() throws -> AgentSession {
        AgentSession(
            login: try login(), profile: ProfileDigest([UInt8](repeating: 7, count: 32))!, mode: .offline, state: .idle, since: 8,
            idleLeft: 0, sessionLeft: nil, isWarningDue: false, hasServerSession: true, survivesRestart: false,
            token: HeldToken(scopes: ScopeSet(["x", "y"]) ?? ScopeSet(), left: 5, kind: .bearer), release: .confirm,
            isRemembered: true)
    }
    private static func search() throws -> ItemSearch {
        var search = ItemSearch(in: .init(itemName: true, fields: [try field("user")]))
        _ = search.add(Array("Ada".utf8).span)
        return search
    }

    /// A remote with each form of a result.
    private static let sync: AgentSyncStatus = {
        let outcomes: [RemoteResult?] = [
            nil, .report([1, 2, 3]), .vault(.storage(.io(28))), .remote(.storage(.missing)), .remote(.helper(.deadline)),
            .remote(.helper(.misbehaved)), .remote(.helper(.programMissing("/p"))), .remote(.helper(.unsafeProgram("/p"))),
            .remote(.helper(.io(5))), .remote(.interrupted), .news(.notMounted), .news(.otherVault), .news(.badRoll(.tooLarge)),
        ]
        let remotes = outcomes.enumerated().map { index, outcome in
            var activity = RemoteStatus(of: UInt8(index + 1))
            activity.state = RemoteState(rawValue: UInt8(index % 8))!
            activity.isAsked = index == 1
            activity.counts = TransferStatus(read: 1, toRead: 2, written: 3)
            activity.last = outcome.map { RemoteStatus.End(time: 4, outcome: $0) }
            return activity
        }
        return AgentSyncStatus(
            remotes: remotes,
            facts: SyncSummary(
                questions: 3, copies: 2, names: 1, awaited: [.init(device: 8, since: 9)],
                devices: [.init(device: 7, text: "laptop")]))
    }()

    private static let digest = [UInt8](repeating: 6, count: 32)

    private static let requests: [(String, @Sendable () throws -> AgentRequest)] = [
        ("step-down", { .stepDown }), ("status", { .status }), ("sessions", { .sessions }),
        (
            "unlock",
            {
                var keys = ClassKeys(vault: id, epoch: 2)
                for (index, level) in [ProtectionLevel(.afterFirstUnlock), .whenUnlocked].enumerated() {
                    let bytes = SecretBytes(copying: [UInt8](repeating: UInt8(index), count: 32).span)
                    keys.add(try Key<Deriving>(readFrom: bytes), of: level)
                }
                return .unlock(paths, keys, openedBy: later, idle: 300, hard: 3600)
            }
        ),
        ("lock", { .lock(paths, forgets: true) }), ("lock-all", { .lock(nil, forgets: false) }),
        ("lock-opened", { .lockOpened(by: later) }), ("sync-status", { .syncStatus(paths, needsFacts: true) }),
        ("sync-now", { .syncNow(paths, remote: 3) }), ("sync-now-all", { .syncNow(paths, remote: nil) }),
        ("remembering-key", { .rememberingKey(paths, .whenUnlocked) }),
        ("keep-session", { .keepSession(try kept()) }),
        (
            "keep-offline",
            {
                .keepSession(
                    NewSession(
                        login: try login(), profile: ProfileDigest([UInt8](repeating: 7, count: 32))!, mode: .offline,
                        limits: SessionLimits(idle: nil, session: 5), release: .never, serverPart: nil))
            }
        ),
        (
            "restore-session",
            {
                var kept = try Self.kept()
                kept.row = SessionRowKey(SecretBytes(copying: digest.span), generation: 3)
                return .restoreSession(kept, since: 8)
            }
        ),
        ("use-session", { .useSession(try login()) }), ("renew-session", { .renewSession(try login(), newTokens: true) }),
        ("end-session", { .endSession(try login(), waits: true, inBrowser: true, password: secret("pw")) }),
        (
            "token",
            {
                .token(
                    try login(),
                    TokenQuestion(scopes: try #require(ScopeSet(["x"])), atLeast: 60, needsLife: true, isAgreed: true))
            }
        ),
        ("narrow-token", { .token(try login(), TokenQuestion(atLeast: 0, isFresh: true, narrowing: narrowing)) }),
        ("forget-token", { .forgetToken(try login(), refused: secret("at")) }),
        (
            "sign",
            { .sign(paths, identity: "robot", .assertion(clientID: "id", audience: "https://a.example")) }
        ),
        (
            "sign-handshake",
            {
                .sign(
                    paths, identity: "robot",
                    .handshake(text: SigningPurpose.handshakePrefix + [UInt8](repeating: 7, count: 32), scheme: 0x0403))
            }
        ),
        (
            "request",
            {
                .request(
                    RequesterQuestion(
                        login: try login(), origin: "https://a.example:443", token: TokenQuestion(atLeast: 5), refused: id))
            }
        ),
        (
            "request-with-certificate",
            {
                .request(
                    RequesterQuestion(
                        login: try login(), origin: "https://a.example:443", token: TokenQuestion(atLeast: 5), refused: nil,
                        identity: ShownIdentity(chain: chain, vault: paths)))
            }
        ),
        ("forget-any-token", { .forgetToken(try login(), refused: nil) }),
        ("compare-session", { .compareSession(try login()) }),
        ("end-session-plain", { .endSession(try login(), waits: false, inBrowser: false, password: nil) }),
        ("ssh-keys", { .sshKeys(paths) }),
        (
            "sign-ssh",
            { .signSSH(paths, SSHSigning(item: try ItemName("git"), publicKey: [1, 2], data: [3, 4, 5], flags: 4)) }
        ),
        ("user-info", { .claims(try login(), .userInfo) }), ("introspection", { .claims(try login(), .introspection) }),
        ("id-token", { .token(try login(), TokenQuestion(atLeast: 0, isForIDToken: true)) }),
        ("items", { .perform(paths, .items(trashed: true)) }), ("item", { .perform(paths, .item(try name("git"))) }),
        ("secret", { .perform(paths, .secret(FieldPath(try name("git"), try field("token")), revision: 4)) }),
        ("secrets", { .perform(paths, .secrets(try name("git"), revision: nil)) }),
        ("add", { .perform(paths, .add(try name("git"), level: .highest, ItemChange(set: try values()))) }),
        ("update", { .perform(paths, .update(try name("git"), try change(), ifRevision: 4)) }),
        ("history", { .perform(paths, .history(try name("git"))) }),
        ("set-level", { .perform(paths, .setLevel(try name("git"), .whenUnlocked, ifRevision: nil)) }),
        ("trash", { .perform(paths, .trash([try name("git"), try name("b")], ifRevision: nil)) }),
        ("purge", { .perform(paths, .purge([try name("git")], ifRevision: 9)) }),
        ("purge-trash", { .perform(paths, .purgeTrash(nil)) }),
        ("purge-trash-names", { .perform(paths, .purgeTrash([try name("git")])) }),
        ("restore", { .perform(paths, .restore(try name("git"), id: later, revision: 2)) }),
        ("purge-id", { .perform(paths, .purgeID(later, level: .highest)) }),
        ("places", { .perform(paths, .entries(id: later, level: nil)) }),
        ("find", { .perform(paths, .find(try search(), trashed: false)) }),
        ("rename", { .perform(paths, .rename([NewName(try name("git"), try name("b"))], ifRevision: 4)) }),
        ("copy", { .perform(paths, .copy([NewName(try name("git"), try name("b"))], level: .highest, ifRevision: nil)) }),
        ("compare", { .perform(paths, .compare(try name("git"), old: 2, new: 5)) }),
        (
            "add-all",
            { .perform(paths, .addAll([NewItem(try name("git"), level: .highest, ItemChange(set: try values()))])) }
        ),
        (
            "chunk",
            { .perform(paths, .chunk(258, of: FieldPath(try name("git"), try field("token")), revision: 4, digest: digest)) }
        ),
        ("names", { .perform(paths, .names(trashed: true)) }),
        ("find-names", { .perform(paths, .findNames(try search(), trashed: false)) }),
    ]

    private static func errors() throws -> [VaultError] {
        let (git, token) = (try name("git"), try field("token"))
        return [
            .noVault, .vaultExists, .cannotUnlock, .deviceKeyMissing, .otherDeviceKey, .corrupt(.tree), .rolledBack(.level),
            .unseenHere, .readOnlyHere, .levelLocked(.highest), .rekeyed, .noItem(git),
            .ambiguous(git, [.whenUnlocked, .highest]),
            .noField(token, of: git), .itemExists(git), .fieldExists(token), .changedMeanwhile(git, revision: 7), .unchanged,
            .tooLarge, .mistypedRecoveryCode, .invalidItemName, .invalidFieldName, .outOfMemory, .unsupportedStretch,
            .storage(.missing), .storage(.exists), .storage(.hazardous(.otherOwner, path: "/x")), .storage(.corrupt),
            .storage(.laterFormat(3)), .storage(.busy), .storage(.io(28)), .storage(.deviceKeyMissing),
            .storage(.deviceKeyDamaged), .delayed(seconds: 7), .staleLogin(3), .noSlot(4), .lastSlot, .onlyLoginSlots,
            .tooManySlots, .slotChanged(5), .policyOutOfBounds, .noRevision(9, of: git), .malformedKeyFile, .noLogHere, .emptyKey,
            .noPortableSlot, .vaultKnownHere, .tooManyPasswordSlots, .invalidTag, .invalidExpiry, .notShowable(token),
            .laterContent, .largeValue(count: 67_108_864, revision: 9, digest: digest),
            .ambiguousID([
                EntryReference(level: .whenUnlocked, entry: id, item: try item()),
                EntryReference(level: .highest, entry: later, item: nil),
            ]),
            .tooMuchAtOnce, .vaultSyncs, .changedMeaning(git),
        ]
    }

    private static let replies: [(String, @Sendable () throws -> AgentReply)] = [
        ("done", { .done }), ("other-version", { .otherVersion(3) }), ("busy", { .busy }), ("refused", { .refused }),
        (
            "status",
            {
                .status(
                    AgentStatus(
                        process: 7, memory: 2, idle: 300, hard: 3600,
                        vaults: [.init(paths: paths, state: .firstUnlocked, idleLeft: 1, hardLeft: 2)]))
            }
        ),
        ("sync", { .sync(sync) }),
        ("items", { .reply(.items([try item()])) }), ("item", { .reply(.item(try item())) }),
        ("secret", { .reply(.secret(secret("pw"))) }), ("secrets", { .reply(.secrets(try item(), try values())) }),
        ("changed", { .reply(.changed(try item(), purge: nil)) }),
        ("removed", { .reply(.removed([try item()], purge: .pending)) }),
        (
            "versions",
            {
                .reply(.versions([ItemVersion(revision: 1, modified: 2, isTrashed: false, fields: try item().fields)]))
            }
        ),
        ("places", { .reply(.entries([EntryReference(level: .highest, entry: later, item: nil)])) }),
        ("compared", { .reply(.compared(try item(), try item(), changed: [try field("token")])) }),
        ("large", { .reply(.large(count: 67_108_864, revision: 9, digest: digest)) }),
        ("found", { .reply(.found([try item()], unsearched: 2)) }),
        ("item-names", { .reply(.names(try #require(ItemNames(lines: Array("git\ngit\n\u{fc}\n".utf8))), unsearched: 2)) }),
        ("has-copies", { .reply(.hasCopies([try name("git")], revision: 9)) }),
        ("locked", { .locked(.locked) }), ("full", { .full }),
        ("unlocked", { .unlocked(.init(paths: paths, state: .unlocked, idleLeft: 600, hardLeft: 43_200)) }),
        (
            "remembering-key",
            { .rememberingKey(try Key(readFrom: SecretBytes(copying: [UInt8](repeating: 5, count: 32).span))) }
        ),
        ("session", { .session(try session()) }), ("no-session", { .noSession }),
        ("foreign-origin", { .foreignOrigin }),
        ("session-refused", { .sessionRefused(.failed(.serverError, status: 503, retryAfter: 7)) }),
        ("session-ended", { .sessionEnded(.endedHereOnly(.forbidden(.accessDenied)), address: nil) }),
        ("session-overtaken", { .sessionEnded(.overtaken, address: nil) }),
        ("session-ended-in-browser", { .sessionEnded(.endedAtServer, address: "http://127.0.0.1:1/once") }),
        ("sessions", { .sessions([try session(), try session()]) }),
        ("token-given", { .token(access(), left: 5, .unrenewed) }),
        ("token-refused", { .tokenRefused(.server(.unreachable(.refused))) }),
        ("token-of-other-scopes", { .tokenRefused(.otherScopes(given: try #require(ScopeSet(["x"])))) }),
        ("signed", { .signed(secret("signature")) }), ("not-signed", { .notSigned(.lockedClientKey) }),
        ("bound-token", { .tokenRefused(.bound) }),
        ("ssh-keys-given", { .sshKeys([OfferedSSHKey(try ItemName("git"), asks: true, publicKey: [1, 2])]) }),
        ("no-id-token", { .tokenRefused(.noIDToken) }), ("claims", { .claims(secret("{}")) }),
        ("token-lacks-scopes", { .tokenRefused(.scopes(held: try #require(ScopeSet(["x"])))) }),
    ]

    private static let questions: [(String, @Sendable () -> OnlineQuestion)] = [
        ("login", { .login("ü", password: secret("pw"), of: service) }),
        ("check", { .check(secret("cookie"), of: oauth[0], clientSecret: secret("cs")) }),
        ("refresh", { .refresh(secret("tokens"), of: oauth[1], clientSecret: secret("cs")) }),
        ("narrow", { .narrow(secret("tokens"), to: narrowing, of: oauth[1], clientSecret: secret("cs")) }),
        ("logout", { .logout(secret("cookie"), user: "a", password: secret("pw"), of: service) }),
        ("logout-plain", { .logout(secret("cookie"), of: service) }), ("profile", { .profile(of: service) }),
        ("login-oamms", { .login("ü", password: secret("pw"), of: oamms) }),
        ("answer-oamms", { .answer(secret("Rex\n"), to: secret("state"), user: "ü", password: secret("pw"), of: oamms) }),
        ("endpoints-oamms", { .endpoints(of: oamms) }),
        ("grant", { .grant(of: oauth[2], clientSecret: secret("cs")) }),
        (
            "try-certificate",
            { .tryCertificate(of: OnlineService(.certificate(BasicService(login: "https://a.example/")), chain: chain)) }
        ),
        (
            "grant-of-bound-tokens",
            {
                .grant(
                    of: OnlineService(
                        .oauth(
                            OAuthService(
                                .token("https://a.example/t", revocation: nil), clientID: "c", grant: .clientCredentials,
                                constraint: .mtls)), chain: chain), clientSecret: secret(""))
            }
        ),
        ("endpoints-issuer", { .endpoints(of: oauth[3]) }),
        ("authorize", { .authorize("ü", within: 180, byDevice: false, of: pages, clientSecret: secret("cs")) }),
        ("introspect", { .introspect(secret("tokens"), of: asked, clientSecret: secret("cs")) }),
        ("user-info-question", { .userInfo(secret("tokens"), of: pages) }),
        (
            "end-session-page",
            { .endSession(page: "https://a.example/out", path: "/once", user: 7, idToken: secret("it"), of: pages) }
        ),
        ("authorize-by-device", { .authorize(nil, within: 1_800, byDevice: true, of: pages) }),
        (
            "client",
            {
                .client(
                    .register(ClientMetadata(name: "n", redirects: ["r"], grants: ["g"], proof: "none", scopes: ["s"]), at: nil),
                    token: secret("t"), statement: secret(""), of: oauth[0])
            }
        ),
        ("authorize-implicit", { .authorize("ü", within: 180, byDevice: false, of: implicit) }),
        ("grant-by-key", { .grant(of: keyed, clientSecret: secret("")) }),
        ("exchange", { .exchange(secret("st"), actor: secret("at"), for: exchange, of: exchanging, clientSecret: secret("cs")) }),
        (
            "assertion",
            { .assertion(secret("a.b.c"), .jwt, user: "ü", keepsSession: true, of: asserting, clientSecret: secret("cs")) }
        ),
        ("assertion-by-key", { .assertion(secret(""), nil, user: nil, keepsSession: false, of: minting) }),
        ("refresh-configured", { .refresh(secret("tokens"), of: configured) }),
    ]
    private static let implicit = OnlineService(
        .oauth(
            OAuthService(
                .pages(revocation: "https://a.example/r"), clientID: "id", grant: .implicit,
                browser: BrowserLogin(redirect: "http://127.0.0.1", authorization: "https://a.example/a"))))
    private static let minting = OnlineService(
        .oauth(
            OAuthService(
                .token("https://a.example/t", revocation: nil), clientID: "c", grant: .assertion, issuer: "https://a.example",
                browser: BrowserLogin(), proof: ClientProof(.none, key: "robot"))))
    private static let configured = OnlineService(
        .oauth(
            OAuthService(
                .configuration("{}"), clientID: "c", grant: .authorizationCode, issuer: "https://a.example",
                browser: BrowserLogin())))
    private static let keyed = OnlineService(
        .oauth(
            OAuthService(
                .token("https://a.example/t", revocation: nil), clientID: "id", grant: .clientCredentials,
                proof: ClientProof(
                    .signedAssertion, key: "robot", audience: .endpoint, pushedRequests: .required,
                    pushedRequestEndpoint: "https://a.example/p", endpoints: [ServerEndpoint(.token, "https://a.example/t")]))))
    private static let asked = OnlineService(
        .oauth(
            OAuthService(
                .token("https://a.example/t", revocation: nil), clientID: "c",
                tokenEndpoints: TokenEndpoints(introspection: "https://a.example/i", userInfo: "https://a.example/u"))))
    private static let exchange = TokenExchange(
        subjectType: "jwt", actorType: "urn:a:b", resource: "https://a.example/r", audience: "cal")!
    private static let exchanging = OnlineService(
        .oauth(OAuthService(.token("https://a.example/t", revocation: nil), clientID: "c", grant: .tokenExchange)))
    private static let asserting = OnlineService(
        .oauth(
            OAuthService(
                .token("https://a.example/t", revocation: nil), clientID: "c", grant: .assertion,
                browser: BrowserLogin(userInfo: "u"), clientAssertion: .saml2)))
    private static let pages = OnlineService(
        .oauth(
            OAuthService(
                .discovery("https://a.example/d"), clientID: "id", scopes: ["openid"], grant: .authorizationCode,
                issuer: "https://a.example",
                browser: BrowserLogin(
                    redirect: "http://127.0.0.1", authorization: "a", device: "d", keySet: "k", userInfo: "u", prompt: "p",
                    maximumAge: 300, contextClasses: "c", userClaim: "n", loginHint: "h", endSession: "e"))))

    private static var chain: ClientChain {
        guard let chain = ClientChain([[1, 2], [3]], of: "ada") else { preconditionFailure("a chain of two") }
        return chain
    }

    private static let answers: [(String, OnlineTask, @Sendable () -> OnlineReply)] = [
        (
            "tried", .tryCertificate,
            {
                .accepted(
                    OnlineAcceptance(
                        session: nil,
                        trial: CertificateTrial(.demanded, without: .alert, with: .status(200), isAccepted: true, isTLS13: true)))
            }
        ),
        (
            "granted", .login(user: "a"),
            {
                .accepted(
                    OnlineAcceptance(
                        session: secret("cookie"), lifetime: 60, serverTime: 1_700_000_000,
                        profile: .given(
                            ServerProfile(
                                epoch: 4, application: "corp", values: ["MaxLoginAttempts": "3", "OfflineAuthAllowed": "true"]))))
            }
        ),
        (
            "client-token", .grant,
            { .accepted(OnlineAcceptance(session: nil, access: access(), lifetime: 60)) }
        ),
        (
            "authorized", .authorize(user: nil, seconds: 180, byDevice: false),
            {
                .accepted(
                    OnlineAcceptance(
                        session: secret("tokens"), access: accessWithIDToken(), lifetime: 60,
                        user: NamedUser("ada", subject: "4711")))
            }
        ),
        ("claims-of-user", .userInfo, { .accepted(OnlineAcceptance(session: nil, claims: secret("{}"))) }),
        ("sent-on", .endSession(page: "p", path: "/", user: 7), { .accepted(OnlineAcceptance(session: nil)) }),
        ("confirmed", .check, { .accepted(OnlineAcceptance(session: nil)) }),
        (
            "profile-missing", .login(user: "a"),
            { .accepted(OnlineAcceptance(session: secret("c"), profile: .missing(.unreachable(.timedOut)))) }
        ),
        ("rejected", .check, { .refused(.rejected) }), ("blocked", .check, { .refused(.blocked) }),
        ("untrusted", .check, { .refused(.untrusted(.name)) }),
        ("failed", .check, { .refused(.failed(.tokenMissing, status: 200)) }),
        ("asked", .login(user: "a"), { .asked(["What?", "Where?"], state: secret("state")) }),
        (
            "endpoints", .endpoints,
            {
                .accepted(
                    OnlineAcceptance(
                        session: nil,
                        endpoints: [ServerEndpoint(.token, "https://a/t"), ServerEndpoint(.revocation, "https://a/r")]))
            }
        ),
    ]
}
