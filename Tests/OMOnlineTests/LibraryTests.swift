// Tests of the Swift code on the pages: it compiles and does what the pages say.

import Foundation
import OMAgent
import OMAgentProtocol
import OMAuth
import OMItems
import OMOnlineModel
import OMRecords
import OMSecrets
import OMStorage
import OMVault
import TestSupport
import Testing

@Suite("The library's example") struct LibraryTests {
    private static let program = Programs.path(of: "omvault-agent")

    @Test(
        "the Swift code on the pages is in the compiled examples",
        arguments: [
            "README.md", "docs/reference/library.md", "docs/guide/vault-from-swift.md", "docs/guide/login-from-swift.md",
            "docs/guide/toolkit-from-swift.md",
        ])
    func blocks(page: String) throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
        let example = try ["OMOnlineTests/LibraryExample.swift", "OMCryptoTests/ToolkitExample.swift"].map {
            try String(contentsOf: root.appending(path: "Tests/\($0)"), encoding: .utf8)
        }.joined()
        let blocks = text.matches(of: /\n```swift\n((?s:.*?))```/).map(\.1)
        #expect(!blocks.isEmpty)
        for block in blocks {
            // A page may name fewer imports than the whole example needs.
            let code = block.replacing(/(import \w+\n)+\n/, with: "")
            let isCompiled = example.contains("\n" + code)
            #expect(isCompiled, "\(page) shows code that is not compiled:\n\(block)")
        }
    }

    @Test("a window logs in online, opens a vault, logs in offline without the server, and asks again after a logout")
    @MainActor func course() async throws {
        let folder = try TestFolder(), home = folder.path
        let server = try await Server("nginx")
        // These files outlive the server, because trust is read from a separate file.
        let authority = "\(home)/ca.pem"
        try Data(server.ca).write(to: URL(filePath: authority))
        let work = try profile(server.url(""), trusting: authority)
        let logins = Logins(state: home, program: Self.program), alice = try UserName("alice")
        #expect(try await attemptsBeforeTheWipe(alice, work, logins) == 5)

        let form = LoginForm()
        form.user = alice
        async let answers: [AuthError?] = answer(form, ["wrong", "correct horse 42"])
        let receipt = try await logIn(form, work, logins)
        let (context, hasSession) = (receipt.details, receipt.isKeepingSession)
        #expect(await answers == [nil, .online(.rejected)])
        #expect(context.mode == .online(notCached: nil) && form.step == .storing && hasSession)
        // The server's policy now says 3.
        #expect(try await attemptsBeforeTheWipe(alice, work, logins) == 3)

        let device = try DeviceFolder("\(home)/omvault-device"), path = "\(home)/vault.omv"
        let field = FieldPath(try ItemName("github"), try FieldName("token"))
        let agent = try Agent(home, Self.program)
        let request = LoginRequest(alice, work, domain: context.domain)
        let named = try #require(
            LoginReference(state: "\(home)/omvault", device: "\(home)/omvault-device", key: request.login))
        try agent.client.keep(receipt, of: request, in: named, asking: logins.provider)
        #expect(try agent.client.useSession(named)?.state == .valid)
        // This server knows no session without the password, so its answer ends the agent's session.
        #expect(try await !stillCounts(named, agent.client))
        #expect(try agent.client.useSession(named) == nil)
        var session = context.deadlines
        #expect(try await mayGoOn(&session, context, work, logins))
        #expect(try await logOut(receipt, work, logins) == nil)

        await server.stop()
        async let again: [AuthError?] = answer(form, ["correct horse 42"])
        let offline = try await logIn(form, work, logins)
        let mode = offline.details.mode
        #expect(await again == [nil] && mode == .offline(.unreachable(.refused)))
        guard let login = offline.takeLogin() else { throw NoSession() }
        try fill(path, device, field, login)
        let token = try await secret(field, vault: path, device: device, login)
        let isRight = token.isEqual(to: bytes("tok"))
        #expect(isRight)
    }

    @Test("a vault is made, filled, given another password, backed up and restored elsewhere, and the agent keeps it open")
    func vault() throws {
        let folder = try TestFolder(), home = folder.path
        let device = try DeviceFolder.make("\(home)/device"), path = "\(home)/vault.omv"
        let first = try Password(bytes("first")), second = try Password(bytes("second"))
        let code = try makeVault(path, device: device, first)
        let vault = try openVault(path, device: device, first)
        let token = FieldPath(try ItemName("github"), try FieldName("token"))
        try add(bytes("old"), at: token, level: .whenUnlocked, in: vault)
        let pin = FieldPath(try ItemName("card"), try FieldName("pin"))
        try add(bytes("1234"), at: pin, level: .highest, replacing: token.item, in: vault)
        try add(bytes("tok"), at: token, level: .whenUnlocked, in: vault)
        #expect(try contents(vault) == ["card (when-unlocked, this device only)", "github (when-unlocked)"])

        try changePassword(of: vault, to: second)
        let again = try openVault(path, device: device, second)
        let lines = try auditLines(path, device: device)
        #expect(lines.first == "1 vaultCreated" && lines.count >= 7)

        let paths = try #require(VaultPaths(vault: path, device: "\(home)/device"))
        let agent = try Agent(home, Self.program)
        #expect(try isNil(secret(token, of: paths, agent.client)))
        try handOver(again, paths, to: agent.client)
        #expect(try isRight(secret(token, of: paths, agent.client)))
        #expect(throws: VaultError.noItem(try ItemName("none"))) {
            _ = try secret(FieldPath(ItemName("none"), FieldName("none")), of: paths, agent.client)
        }
        let store = CredentialStore(AgentItems(agent.client, paths), level: .whenUnlocked)
        var pet = StoredProperty()
        try pet.put(bytes("Rex"), as: .value)
        try store.add(pet, key: "pet")
        #expect(try credentialKeys(of: paths, agent.client) == ["pet"])
        let isKnown = if case .none = try store.property(key: "none") { false } else { true }
        #expect(!isKnown)
        try agent.client.lock(paths, forgets: true)
        #expect(throws: AgentItems.Problem.self) { try credentialKeys(of: paths, agent.client) }
        #expect(try isNil(secret(token, of: paths, agent.client)))

        let summary = try again.backUp(to: "\(home)/vault.omvb", portable: false)
        #expect(summary.itemCount == 4)
        let other = try DeviceFolder.make("\(home)/other"), copy = "\(home)/copy.omv"
        let report = try restoreVault("\(home)/vault.omvb", to: copy, device: other, code, first)
        #expect(report.lost.map(\.name) == [pin.item] && !report.isFromThisDevice)
        let restored = try openVault(copy, device: other, first)
        #expect(try contents(restored) == ["github (when-unlocked)", "property.pet (when-unlocked)"])
        #expect(try isRight(restored.secret(token)))
        #expect(throws: VaultError.cannotUnlock) { _ = try openVault(path, device: device, first) }
    }

    @Test("the guide's first vault shows its code once, and returns the token")
    func firstVault() throws {
        let folder = try TestFolder()
        var shown = 0
        let count = try OMOnlineTests.firstVault(
            in: folder.path, Password(bytes("correct horse")), Array("ghp_42".utf8)
        ) { code in shown = code.count }
        #expect(count == 6 && shown == 39)
    }

    private func isNil(_ secret: consuming SecretBytes?) -> Bool {
        switch secret {
        case .some: false
        case .none: true
        }
    }

    private func isRight(_ secret: consuming SecretBytes?) -> Bool {
        switch secret {
        case .some(let secret): secret.isEqual(to: bytes("tok"))
        case .none: false
        }
    }

    @Test("an application exchanges a token, and stores, loads and clears it as the commands do")
    func exchange() async throws {
        let folder = try TestFolder(), home = folder.path
        let server = try await Server("exchange"), base = "http://127.0.0.1:\(server["http"])"
        let tokens = URL(filePath: server["tokens"])
        func token(_ name: String) throws -> [UInt8] {
            Array(try String(contentsOf: tokens.appending(path: "\(name).jwt"), encoding: .utf8).dropLast().utf8)
        }
        let (good, foreign) = (try token("good"), try token("foreign"))
        let secret = Array(try Data(contentsOf: tokens.appending(path: "secret"))), seen = server["seen"]
        try await onOwnThread {
            func count(_ path: String) throws -> Int {
                try String(contentsOf: URL(filePath: seen), encoding: .utf8).split(separator: "\n")
                    .count { $0.hasPrefix("[\"\(path)\"") }
            }
            func profile(_ more: [String: ProfileValue] = [:]) throws -> Profile {
                try Profile(
                    ProfileName("partner"),
                    values: [
                        "AuthServerType": .text("OAuthAuthentication"), "OAuthAuthZGrantType": .text("OAuthTokenExchange"),
                        "OAuthTokenEndpoint": .text("\(base)/token"), "OAuthRevocationEndpoint": .text("\(base)/revoke"),
                        "OAuthClientID": .text("omvault"), "TokenRelease": .text("allow"),
                        "KeychainDataProtection": .text("KeychainDataAccessibleAlways"),
                    ].merging(more) { $1 })
            }
            let (state, device) = ("\(home)/omvault", "\(home)/omvault-device")
            let provider = OnlineProvider(program: Self.program, clientSecret: SecretBytes(copying: secret))
            let authenticator = Authenticator(stateFolder: state, deviceFolder: device)
            func access(_ key: RememberingKey?) -> ExchangeAccess {
                ExchangeAccess(stateFolder: state, deviceFolder: device, asking: provider, key: key)
            }
            let open = access(try authenticator.makeDeviceRememberingKey()), work = try profile()
            let subject = SecretBytes(copying: good), asked = try #require(TokenExchange(subjectType: "jwt"))
            var agent: Agent? = try Agent(home, Self.program)
            let client = try #require(agent?.client)
            // Without its level nothing is asked, and nothing can be loaded.
            #expect(throws: AuthError.noCredential) {
                _ = try client.exchange(work, subject: subject, for: asked, store: true, with: access(nil))
            }
            #expect(try client.loadExchange(work, with: open) == .none && count("/token") == 0)
            #expect(throws: AuthError.online(.failed(.assertionRefused, status: 400))) {
                _ = try client.exchange(
                    work, subject: SecretBytes(copying: foreign), for: asked, store: true, with: open)
            }
            let alone = try client.exchange(work, subject: subject, for: asked, store: false, with: open)
            #expect(alone.receipt.details.user.text == "omvault" && !alone.isHeld && alone.before == .none)
            #expect(try client.sessions().isEmpty && client.loadExchange(work, with: open) == .none)
            // This call has no actor, and an end of the wait ends the question.
            let acting = try #require(TokenExchange(subjectType: "jwt", actorType: "jwt")), ended = Cancellation()
            ended.cancel()
            for (question, cancellation, refusal) in [
                (acting, Cancellation(), .unusableAssertion), (asked, ended, .cancelled),
            ] as [(TokenExchange, Cancellation, OnlineFailure)] {
                #expect(throws: AuthError.online(.failed(refusal))) {
                    _ = try client.exchange(
                        work, subject: subject, for: question, store: true, with: open, cancellation: cancellation)
                }
            }
            // Stored, and stored again under another name: the one before ends at the server too.
            for (name, end) in [("ada", ExchangeEnd.none), ("bob", .ended)] {
                let stored = try client.exchange(
                    work, subject: subject, for: asked, user: UserName(name), store: true, with: open)
                #expect(stored.isHeld && stored.before == end)
            }
            // A profile of another kind, with the same name, ends no session.
            let other = try profile(["OAuthAuthZGrantType": .text("OAuthResourceOwner")])
            let refused = AuthError.online(.failed(.unsupportedGrant))
            #expect(throws: refused) { _ = try client.clearExchange(other, with: open) }
            #expect(throws: refused) { _ = try client.loadExchange(other, with: open) }
            #expect(try client.sessions().map(\.login.key.user.text) == ["bob"])
            guard case .loaded(let details, let expires?) = try client.loadExchange(work, with: open) else { throw NoSession() }
            #expect(details.user.text == "bob" && expires > 0)
            let login = try #require(try client.sessions().first?.login)
            guard case .given(let given, _, _) = try client.token(login, TokenQuestion(atLeast: 0)) else { throw NoSession() }
            // Another agent gets the same token from the ledger, while its level is open, and for the same backend.
            agent = nil
            agent = try Agent(home, Self.program)
            #expect(try client.sessions().isEmpty)
            #expect(try client.loadExchange(work, with: access(nil)) == .locked)
            #expect(try client.loadExchange(profile(["MobileBackendID": .text("b")]), with: open) == .otherBackend)
            guard case .loaded = try client.loadExchange(work, with: open) else { throw NoSession() }
            guard case .given(let again, _, _) = try client.token(login, TokenQuestion(atLeast: 0)) else { throw NoSession() }
            let isSame = again.value.isEqual(to: given.value)
            #expect(isSame)
            // Only the ledger has it: it is revoked all the same.
            agent = nil
            let before = try count("/revoke")
            #expect(try client.clearExchange(work, with: open) == .ended)
            #expect(try count("/revoke") == before + 1)
            #expect(try client.clearExchange(work, with: open) == .none)
            _ = try client.exchange(work, subject: subject, for: asked, store: true, with: open)
            #expect(try client.loadExchange(work, with: open) == .notKept)
            #expect(try client.clearExchange(work, with: access(nil)) == .unrevoked(.locked))
        }
    }

    @Test("set-up fetches a server's policy, and a fetch from a silent server can be cancelled")
    func policy() async throws {
        let server = try await Server.nginx.value, hole = try await Server.odd.value
        let provider = OnlineProvider(program: Self.program)
        let given = try await provider.policy(of: profile(server.url(""), trusting: server["ca"]))
        #expect(given?.epoch == 7 && given?.maxLoginAttempts == 3)
        let silent = try profile(hole.url("", "blackhole"), trusting: server["ca"])
        let fetch = Task { () -> AuthError? in
            do throws(AuthError) { _ = try await provider.policy(of: silent) } catch { return error }
            return nil
        }
        fetch.cancel()
        #expect(await fetch.value == .policyMissing(.notFetched(.failed(.cancelled))))
    }

    @Test("a login whose window is closed ends, and its prompter asks no question")
    @MainActor func closed() async throws {
        let folder = try TestFolder(), home = folder.path
        let logins = Logins(state: home, program: "/nowhere/omvault-agent"), form = LoginForm()
        let work = try profile("https://localhost:1", trusting: "/nowhere")
        let login = Task { () -> AuthError? in
            do throws(AuthError) { _ = try await logIn(form, work, logins) } catch { return error }
            return nil
        }
        while form.question == nil { await Task.yield() }
        login.cancel()
        #expect(await login.value == .cancelled)
    }

    @Test("an application's own provider asks a secret question through the same window")
    @MainActor func question() async throws {
        let folder = try TestFolder(), home = folder.path
        let logins = Logins(state: home, program: Self.program), form = LoginForm()
        form.user = try UserName("alice")
        let work = try Profile(
            ProfileName("bank"),
            values: [
                "AuthServerType": .text("HTTPBasicAuthentication"), "LoginURL": .text("https://bank.example/login"),
                "LogoutURL": .text("https://bank.example/logout"),
            ])
        let bank = BankProvider(bank: TestBank())
        async let wrong: [AuthError?] = answer(form, ["wrong", "right", "Fido"])
        await #expect(throws: AuthError.online(.forbidden(.status))) {
            _ = try await logins.authenticator.login(work, prompting: form, asking: bank)
        }
        #expect(await wrong == [nil, .online(.rejected), .online(.rejected)])
        async let right: [AuthError?] = answer(form, ["right", "Rex"])
        let receipt = try await logins.authenticator.login(work, prompting: form, asking: bank)
        let mode = receipt.details.mode
        #expect(await right == [nil, nil] && mode == .online(notCached: .offlineNotAllowed))
    }

    /// Presses the button with each text as soon as a question appears.
    ///
    /// - Returns: the reason that the window showed each time.
    @MainActor private func answer(_ form: LoginForm, _ texts: [String]) async -> [AuthError?] {
        var refusals: [AuthError?] = []
        for text in texts {
            while form.question == nil, form.secretQuestion == nil { await Task.yield() }
            refusals.append(form.question?.refusal ?? refusals.last ?? nil)
            let (answered, isSecret) = (form.question?.refusal, form.secretQuestion != nil)
            form.press(bytes(text))
            // Wait until the answered question is gone, or another question is there. Both can happen between two looks.
            while form.question != nil && form.question?.refusal == answered || form.secretQuestion != nil && isSecret {
                await Task.yield()
            }
        }
        return refusals
    }

    /// A vault that the login opens, with one item.
    private func fill(
        _ path: String, _ device: DeviceFolder, _ field: FieldPath, _ login: borrowing VerifiedLogin
    ) throws(VaultError) {
        let code = RecoveryCode.random(), policy = VaultPolicy(defaultLevel: .whenUnlocked)
        try VaultFile.create(path, device: device, policy: policy, slots: [NewSlot(recovery: code, policy.stretch)])
        let file = try VaultFile.open(path, device: device), slot = file.slots[0]
        let vault = try file.unlock(slot, with: slot.key(stretching: code.secret))
        try vault.edit { (edit) throws(VaultError) in
            try edit.add(field.item, level: nil) { (draft) throws(VaultError) in try draft.put(bytes("tok"), at: field.field) }
        }
        try tie(vault, to: login)
    }
}

/// An agent for this test only.
private final class Agent {
    let client: AgentClient

    init(_ folder: String, _ program: String) throws {
        let socket = try AgentSocket(path: "\(folder)/agent.sock")
        client = AgentClient(socket)
        #expect(try AgentProcess.start(program, at: socket))
    }

    deinit { try? client.stepDown() }
}

extension LoginReceipt {
    fileprivate var isKeepingSession: Bool {
        switch session {
        case .some: true
        case .none: false
        }
    }
}

private actor TestBank: Bank {
    func greet(_ user: String, _ password: borrowing SecretBytes) async -> String? {
        password.isEqual(to: bytes("right")) ? "Your first pet?" : nil
    }

    func accepts(_ answer: borrowing SecretBytes, of user: String) async -> Bool { answer.isEqual(to: bytes("Rex")) }
}
