internal import OMAgent
internal import OMAuth
internal import OMRecords
internal import OMShell
internal import OMSystem

/// The key of the level at which a profile's token is kept.
struct KeptTokenKey {
    private let context: CommandContext
    private let profile: Profile
    private let authenticator: Authenticator

    init(_ context: CommandContext, _ profile: Profile, _ authenticator: Authenticator) {
        (self.context, self.profile, self.authenticator) = (context, profile, authenticator)
    }

    /// - Throws: ``ExitStatus/locked`` while the level is locked.
    func get() throws -> RememberingKey {
        guard let key = try find() else { throw locked() }
        return key
    }

    /// - Returns: Nil while the level is locked.
    func find() throws -> RememberingKey? {
        guard profile.level.availability != .always else { return try authenticator.makeDeviceRememberingKey() }
        return try VaultAccess(context).rememberingKey(of: profile.level)
    }

    var ofOtherKey: String { "the token is sealed with the key of another vault than this one, which cannot open it" }

    func locked() -> Failure {
        let vault = (try? VaultAccess(context).location.name.shown) ?? ""
        return Failure(
            .locked, "the profile keeps its token at the level \(profile.level.name), and vault \"\(vault)\" is locked",
            hint: "omvault unlock", "or KeychainDataProtection=KeychainDataAccessibleAlways for jobs without a person")
    }
}

/// The result of a command about a kept token.
struct KeptTokenReport {
    private let output: Output

    init(_ output: Output) { self.output = output }

    /// - Parameter word: What happened to it.
    func print(_ word: String, _ details: LoginDetails, expires: Int64?) throws(Failure) {
        guard output.format == .json else { return try output.line(word) }
        var document = JSONDocument()
        document.field("result", .text(word))
        document.field("profile", .text(details.profile.text))
        document.field("user", .text(details.user.text))
        let left = expires.map { max(0, $0 - ClockReading.now().sinceBoot) }
        document.field("expires_in", left.map { .number(Int(clamping: $0)) } ?? .null)
        try output.document(document)
    }
}

extension Profile {
    /// - Throws: ``ExitStatus/noOffline`` if the profile's server may not be asked for a token.
    func requireOnline() throws(Failure) {
        guard connectivityMode != .offline else {
            throw Failure(
                .noOffline, "ConnectivityMode is Offline, and only the server gives such a token",
                hint: "omvault profile set \(name.text.asShellWord) ConnectivityMode=Auto")
        }
    }

    /// - Throws: ``ExitStatus/unsupported`` if no token can be exchanged under it.
    func requireExchange() throws(Failure) {
        guard serverKind == .oauthTokenExchange else {
            throw Failure(
                .unsupported, "profile \"\(name.text)\" is not for token exchange",
                hint: "omvault profile set NAME OAuthAuthZGrantType=\(OAuthGrant.tokenExchange.rawValue) makes one")
        }
        guard tokenExchangeDialect == .rfc8693 else {
            throw Failure(
                .unsupported, "this version asks no server that exchanges tokens in the dialect mcs",
                hint: "\(ProfileKey.tokenExchangeDialect.rawValue)=rfc8693 is the standard")
        }
    }
}
