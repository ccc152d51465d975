internal import OMAgent
internal import OMAuth
internal import OMShell

/// The token of one session, for a program.
struct RunToken {
    private let request: ProgramToken
    private let tokens: SessionToken
    private let given = RequestedUser(user: nil, domain: nil)

    init(_ request: ProgramToken, _ access: LoginAccess, _ context: CommandContext) throws {
        self.request = request
        tokens = try SessionToken(try access.profiles.profile(ProfileName(request.profile)), access, context)
    }

    /// - Parameter isAgreed: Whether the user agreed to this program before. It is not asked in the middle of its work.
    func get(isAgreed: Bool = false) throws -> SessionToken.Found {
        try tokens.get(given, TokenQuestion(scopes: request.scopes, atLeast: TokenGet.standardLife, isAgreed: isAgreed))
    }
}
