// The example of docs/reference/library.md and of the guides to Swift, as an application would write it, with public names
// only. LibraryTests compares the pages with this file, and runs it.

import OMAgent
import OMAgentProtocol
import OMAuth
import OMItems
import OMOnlineModel
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import OMVault

/// The profile may come from a file as well: `ProfileFolder("…/profiles", ceiling: …).profile(name)`.
func profile(_ server: String, trusting authority: String) throws(AuthError) -> Profile {
    try Profile(
        ProfileName("work"),
        values: [
            "AuthServerType": .text("HTTPBasicAuthentication"), "TrustedCA": .text(authority),
            "LoginURL": .text("\(server)/login"), "LogoutURL": .text("\(server)/logout"),
            "ProfileURL": .text("\(server)/profile"), "ApplicationName": .text("WhitePages"),
            "OfflineAuthAllowed": .bool(true), "MaxLoginAttempts": .number("5"),
            "IdleTimeOutValue": .number("600"),
        ],
        ceiling: PolicyCeiling.read(SystemStore.policy))
}

/// An application makes this once.
struct Logins: Sendable {
    let authenticator: Authenticator
    let provider: OnlineProvider

    init(state: String, program: String) {
        authenticator = Authenticator(stateFolder: "\(state)/omvault", deviceFolder: "\(state)/omvault-device")
        provider = OnlineProvider(program: program)
    }
}

@MainActor final class LoginForm: AsyncLoginPrompter {
    /// The question in the window. Its `refusal` says why the previous answer failed.
    private(set) var question: LoginPrompt?
    private(set) var secretQuestion: SecretQuestion?
    private(set) var step: LoginStep?
    private var button: CheckedContinuation<Void, Never>?
    private var typed: SecretBytes?

    func input(for prompt: LoginPrompt) async -> LoginInput? {
        self.question = prompt
        defer { self.question = nil }
        guard let typed = await pressed(), let password = try? Password(typed), let user = user ?? prompt.user
        else { return nil }
        return LoginInput(user, .typed(password))
    }

    func answer(_ question: SecretQuestion) async -> SecretBytes? {
        secretQuestion = question
        defer { secretQuestion = nil }
        return await pressed()
    }

    func progress(_ step: LoginStep) { self.step = step }

    /// The content of the window's field for the name.
    var user: UserName?

    /// The window's buttons: OK with the typed text, or nil to decline.
    func press(_ typed: consuming SecretBytes?) {
        self.typed = typed
        button?.resume()
        button = nil
    }

    private func pressed() async -> SecretBytes? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { button = $0 }
        } onCancel: {
            Task { @MainActor in press(nil) }
        }
        return typed.take()
    }
}

/// README.md's.
func tokenLength(vault path: String, device folder: String, typed: consuming SecretBytes) throws -> Int {
    let file = try VaultFile.open(path, device: DeviceFolder(folder))
    guard let slot = file.slots.first(where: { $0.kind == .password }) else { throw VaultError.cannotUnlock }
    let password = try Password(typed)
    let vault = try file.unlock(slot, with: slot.key(stretching: password.bytes))
    let secret = try vault.secret(FieldPath(ItemName("github"), FieldName("token")))
    return secret.withBytes { bytes in bytes.count }  // read them in here; they are wiped when `secret` goes
}

func logIn(
    _ form: LoginForm, _ profile: Profile, _ logins: Logins
) async throws(AuthError) -> LoginReceipt {
    let receipt = try await logins.authenticator.login(profile, prompting: form, asking: logins.provider)
    switch receipt.details.mode {
    case .online(let notCached): print(notCached.map { "nothing is cached: \($0)" } ?? "the next one can be offline")
    case .offline(let online): print("without the server: \(online.map { "\($0)" } ?? "as asked")")
    }
    return receipt
}

func attemptsBeforeTheWipe(_ user: UserName, _ profile: Profile, _ logins: Logins) async throws(AuthError) -> Int? {
    try await logins.authenticator.awaiting { logins throws(AuthError) in
        let policy = try logins.policy(of: user, profile)
        guard policy.isOfflineAllowed, policy.onAttemptsExceeded == .wipe else { return nil }
        return try logins.status(user, profile).details?.attemptsLeft ?? policy.tolerated
    }
}

/// Once, after another secret has opened the vault: from then on the login does.
func tie(_ vault: borrowing Vault, to login: borrowing VerifiedLogin) throws(VaultError) {
    _ = try vault.addSlot(NewSlot(login: login.id, key: login.unlock))
}

func secret(
    _ field: FieldPath, vault path: String, device: DeviceFolder, _ login: consuming VerifiedLogin
) async throws(VaultError) -> SecretBytes {
    let login = login
    return try await OwnThread.run { () throws(VaultError) in
        let file = try VaultFile.open(path, device: device)
        guard let slot = file.slots.first(where: { $0.login == login.id }) else { throw .cannotUnlock }
        return try file.unlock(slot, with: login.unlock).secret(field)
    }
}

/// A vault that the password opens on this device, and the recovery code on any.
///
/// - Returns: The recovery code. Print it, and keep it somewhere else.
func makeVault(
    _ path: String, device: DeviceFolder, _ password: borrowing Password
) throws(VaultError) -> RecoveryCode {
    let code = RecoveryCode.random(), policy = VaultPolicy(defaultLevel: .whenUnlocked)
    let slots = [try NewSlot(password: password, policy.stretch), try NewSlot(recovery: code, policy.stretch)]
    try VaultFile.create(path, device: device, policy: policy, slots: slots)
    return code
}

/// Tries every password slot; together they count as one attempt.
func openVault(
    _ path: String, device: DeviceFolder, _ password: borrowing Password
) throws(VaultError) -> Vault {
    let file = try VaultFile.open(path, device: device)
    return try file.unlock(anyOf: KeySlot.tried(.password, of: file.slots)) { slot throws(VaultError) in
        try slot.key(stretching: password.bytes)
    }
}

/// Makes a vault in a folder, puts a token in it and reads it back.
///
/// - Parameter show: prints the recovery code, which is shown this once.
/// - Returns: the length of the token.
func firstVault(
    in folder: String, _ password: borrowing Password, _ tokenBytes: [UInt8], show: (Span<UInt8>) -> Void
) throws -> Int {
    let device = try DeviceFolder.make("\(folder)/device"), path = "\(folder)/app.omv"
    let code = try makeVault(path, device: device, password)
    code.text().withBytes { letters in show(letters) }
    let vault = try openVault(path, device: device, password)
    let token = FieldPath(try ItemName("github"), try FieldName("token"))
    try add(SecretBytes(copying: tokenBytes), at: token, level: .whenUnlocked, in: vault)
    let secret = try vault.secret(token)
    return secret.withBytes { bytes in bytes.count }  // read the bytes here; they are wiped with `secret`
}

/// Adds an item of one field, and moves the replaced item to the trash: both, or neither.
func add(
    _ secret: borrowing SecretBytes, at path: FieldPath, level: ProtectionLevel, replacing old: ItemName? = nil,
    in vault: borrowing Vault
) throws(VaultError) {
    try vault.edit { edit throws(VaultError) in
        try edit.add(path.item, level: level) { draft throws(VaultError) in try draft.put(secret, at: path.field) }
        if let old { try edit.trash(old) }
    }
}

/// The items with their levels, without a secret.
func contents(_ vault: borrowing Vault) throws(VaultError) -> [String] {
    try vault.items().map { item in
        "\(item.name.text) (\(item.level.name)\(item.level.isDeviceOnly ? ", this device only" : ""))"
    }
}

func changePassword(of vault: borrowing Vault, to password: borrowing Password) throws(VaultError) {
    guard let slot = vault.openedBy, slot.kind == .password else { throw .cannotUnlock }
    // `.pending`: another process reads the vault. The next change removes the old slot's bytes.
    _ = try vault.replaceSlot(slot, with: NewSlot(password: password, vault.settings().policy.stretch))
}

/// The vault's events, oldest first. This needs no password: the log is sealed under this device's key.
func auditLines(_ path: String, device: DeviceFolder) throws(VaultError) -> [String] {
    let report = try VaultFile.open(path, device: device).auditReport()
    let lines = report.entries.map { "\($0.sequence) \($0.event)" }
    return lines + (report.fault.map { ["\($0.sequence) and what follows: \($0.kind)"] } ?? [])
}

/// Restores the vault of a backup.
///
/// On another device the vault gets this password, and `lost` of the report names the items that were bound to the old
/// device. On its own device it keeps its passwords.
func restoreVault(
    _ backup: String, to path: String, device: DeviceFolder, _ code: borrowing RecoveryCode,
    _ password: borrowing Password
) throws(VaultError) -> RestoreReport {
    let file = try BackupFile.open(backup)
    let opened = try file.unlock(anyOf: KeySlot.tried(.recovery, of: file.slots), device: device) {
        slot throws(VaultError) in try slot.key(stretching: code.secret)
    }
    return try opened.restore(to: path, device: device, password: NewSlot(password: password, file.policy.stretch))
}

/// From now on every program of this user can read the vault. It locks after ten minutes without use, or at the
/// agent's own limit (12 hours).
func handOver(_ vault: borrowing Vault, _ paths: VaultPaths, to agent: AgentClient) throws(AgentError) {
    let opened = try agent.unlock(paths, vault.classKeys(), openedBy: nil, idle: 600, hard: 0)
    if case .failure(let error) = opened { print("the agent does not keep it: \(error)") }
}

/// - Returns: nil if the vault is locked in the agent: then ask for the password.
func secret(_ field: FieldPath, of paths: VaultPaths, _ agent: AgentClient) throws -> SecretBytes? {
    switch try agent.perform(paths, .secret(field, revision: nil)) {
    case .reply(.secret(let secret)): return secret
    case .failure(let error): throw error
    default: return nil
    }
}

/// The keys of the credentials that the agent's vault stores.
func credentialKeys(of paths: VaultPaths, _ agent: AgentClient) throws(AgentItems.Problem) -> [String] {
    try CredentialStore(AgentItems(agent, paths)).keys().map { $0.key }
}

/// Call this before each use of the login's results. Nothing runs in the background.
func mayGoOn(
    _ session: inout SessionDeadlines, _ details: LoginDetails, _ profile: Profile, _ logins: Logins
) async throws(AuthError) -> Bool {
    switch session.use(at: .now()) {
    case .valid: return true
    case .idle: return false
    case .ended:
        let login = LoginRequest(details.user, profile, domain: details.domain).login
        try await logins.authenticator.end(login, after: .sessionTimeOut)
        return false
    }
}

/// - Returns: why the session continues at the server, or nil when it has ended.
func logOut(
    _ receipt: consuming LoginReceipt, _ profile: Profile, _ logins: Logins
) async throws(AuthError) -> OnlineRefusal? {
    let request = LoginRequest(receipt.details.user, profile, domain: receipt.details.domain)
    try await logins.authenticator.end(request.login, after: .logout)
    guard let session = receipt.takeSession() else { return nil }
    return await logins.provider.end(session, of: request)
}

/// The token for a partner's service: a kept one, or a new one in exchange for the company's own ID token.
func partnerToken(
    _ profile: Profile, for idToken: borrowing SecretBytes, _ agent: AgentClient, _ access: ExchangeAccess
) throws(AuthError) -> ExchangeState {
    let kept = try agent.loadExchange(profile, with: access)
    switch kept {
    case .loaded, .locked, .notKept: return kept
    case .none, .idle, .expired, .otherBackend, .otherKey: break
    }
    guard let asked = TokenExchange(subjectType: "id_token") else { return kept }
    _ = try agent.exchange(profile, subject: idToken, for: asked, store: true, with: access)
    return try agent.loadExchange(profile, with: access)
}

/// Asks the server of a session that the agent keeps.
func stillCounts(_ login: LoginReference, _ agent: AgentClient) async throws(AgentError) -> Bool {
    let verdict = try await OwnThread.run { () throws(AgentError) in try agent.renewSession(login, newTokens: false) }
    if case .valid = verdict { return true }
    return false
}

/// A server of the application's own that asks a secret question after the password.
protocol Bank: Sendable {
    func greet(_ user: String, _ password: borrowing SecretBytes) async -> String?
    func accepts(_ answer: borrowing SecretBytes, of user: String) async -> Bool
}

struct BankProvider: Provider {
    let bank: any Bank

    func authenticate(
        _ login: ProviderQuestion, password: borrowing Password, asking prompter: any LoginPrompter,
        cancellation: Cancellation
    ) -> ProviderAnswer {
        let user = login.user.text, password = password.duplicate()
        let question = cancellation.wait { [bank] in await bank.greet(user, password.bytes) }
        guard let question else { return .refused(.rejected) }
        guard let answer = prompter.answer(SecretQuestion(question)) else { return .refused(.failed(.cancelled)) }
        let isRight = cancellation.wait { [bank] in await bank.accepts(answer, of: user) }
        return isRight == true ? .accepted(policy: nil, serverTime: nil, session: nil) : .refused(.forbidden(.status))
    }
}
