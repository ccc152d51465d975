internal import ArgumentParser
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// What `omvault token exchange` gives to the server, and what it asks for.
struct ExchangeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Where the token to exchange comes from; the profile's source, if not given.", valueName: "source"))
    var subjectFrom: SecretSourceArgument?

    @Option(
        help: ArgumentHelp(
            "What that token is: access_token, id_token, refresh_token, jwt, saml1, saml2 or an address; access_token, if not given.",
            valueName: "type"))
    var subjectType: String?

    @Option(
        help: ArgumentHelp("Where the token of the party that acts for the user comes from.", valueName: "source"))
    var actorFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("What that token is, as for --subject-type.", valueName: "type"))
    var actorType: String?

    @Option(help: ArgumentHelp("The scopes to ask for; those of the profile, if not given.", valueName: "list"))
    var scope: String?

    @Option(help: ArgumentHelp("The address of the server that the new token is for.", valueName: "url"))
    var resource: String?

    @Option(help: ArgumentHelp("The name of the server that the new token is for.", valueName: "name"))
    var audience: String?

    /// The sources, by their options.
    var sources: [(key: String, value: SecretSourceArgument?)] {
        [(Self.subjectName, subjectFrom), (Self.actorName, actorFrom)]
    }

    private static let subjectName = "--subject-from"
    private static let actorName = "--actor-from"

    /// - Parameter own: The kind of the profile's own token, if that is the subject.
    func question(own: AssertionKind?) throws(Failure) -> TokenExchange {
        guard actorType == nil || actorFrom != nil else { throw Failure(usage: "--actor-type needs --actor-from") }
        let standard =
            switch own {
            case nil: "access_token"
            case .jwt?: "jwt"
            case .saml2?: "saml2"
            }
        let exchange = TokenExchange(
            subjectType: subjectType ?? standard, actorType: actorFrom == nil ? nil : actorType ?? "access_token",
            resource: resource, audience: audience)
        guard let exchange else {
            throw Failure(
                .usage, "a type, --resource or --audience is not what a server could take",
                hint: "a type is access_token, id_token, refresh_token, jwt, saml1, saml2, or an address such as urn:example:type"
            )
        }
        return exchange
    }

    /// Nil for those of the profile.
    func scopes() throws(Failure) -> ScopeSet? { try scope.map { (text) throws(Failure) in try TokenGet.scopes(text) } }

    /// What is wrong if a token was not sent because of its form. Nil if no option has given one.
    var unusable: Failure? {
        let given = sources.filter { $0.value != nil }.map(\.key)
        guard let one = given.first else { return nil }
        return Failure(
            .usage, "the token in \(given.joined(separator: " or ")) is empty, too long, or not of its type; nothing was sent",
            hint: "a jwt or id_token has dots and no blanks, saml1 and saml2 are XML, and any other token is one word of ASCII",
            "\(one == Self.subjectName ? "--subject-type" : "--actor-type") says what it is")
    }

    /// The token to exchange.
    func subject(_ access: borrowing ForeignTokenAccess) throws(Failure) -> SecretBytes {
        subjectFrom == nil ? try access.assertion() : try access.read(Self.subjectName)
    }

    /// Empty without one.
    func actor(_ access: borrowing ForeignTokenAccess) throws(Failure) -> SecretBytes {
        actorFrom == nil ? SecretBytes(copying: []) : try access.read(Self.actorName)
    }
}
