internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

/// `omvault profile refresh`: asks a profile's server for its policy and its endpoints, and says how old each of them is.
struct ProfileRefresh: Verb {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Ask a profile's server for its policy and its endpoints now.",
        discussion: """
            No password is needed, and no login is made. The rules are those of a login: a policy with a lower epoch than the known
            one is refused (31), and within an epoch only stricter values count. omvault keeps what it knows if the server cannot be
            reached (50), or if its answer cannot be used (52).

            VALUE is the value in force. FROM says who decided it, as for 'omvault profile show'. AGE is the time since the server gave
            it: "unknown" if omvault did not note the time, or if the clock was put back; "-" if it does not come from the server. Rows
            for scripts and --json have seconds.

              omvault profile refresh work
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: profileHelp, completion: .profiles)
    var name: String?

    @Flag(help: systemStoreHelp)
    var system = false

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let access = try LoginAccess(context, system: system), output = context.output
        let profile = try access.profiles.profile(access.profileName(name))
        var asking = ServerRefresh(profile, access, output)
        let before = try access.authenticator().known(of: profile)
        let problem = asking.run(before)
        let known = try access.authenticator().known(of: profile)
        try Self.show(profile, known, isWhole: problem == nil, output)
        if let problem { throw problem }
    }

    private static func show(
        _ profile: Profile, _ known: ServerDocument, isWhole: Bool, _ output: Output
    ) throws {
        let rows = RefreshedValue.all(of: profile, known)
        guard output.format == .json else {
            let isForPeople = output.format == .table
            var cells = rows.map { [$0.name, $0.value.text, $0.from.rawValue, $0.age.cell(isForPeople: isForPeople)] }
            // The policy has an age even if stricter values of others decide all of it.
            if isForPeople, let policy = known.policy {
                let age = ValueAge.of(known.policyAge).cell(isForPeople: true)
                cells.insert(["policy", "epoch \(policy.epoch)", EffectivePolicy.Source.server.rawValue, age], at: 0)
            }
            return try output.rows(cells, header: ["KEY", "VALUE", "FROM", "AGE"])
        }
        func number(_ age: Int64?) -> JSONValue { age.map { .number(Int($0)) } ?? .null }
        var document = JSONDocument()
        document.field("profile", .text(profile.name.text))
        document.field("server", profile.serverOrigin.isEmpty ? .null : .text(profile.serverOrigin))
        document.field("refreshed", .flag(isWhole))
        document.field("policy_epoch", known.policy.map { .number(Int($0.epoch)) } ?? .null)
        document.field("policy_age", number(known.policyAge))
        document.field("endpoints_age", number(known.endpointsAge))
        document.object("values") { values in
            for row in rows { values.field(row.name, row.value.json) }
        }
        document.object("from") { values in
            for row in rows { values.field(row.name, .text(row.from.rawValue)) }
        }
        document.object("age") { values in
            for row in rows { values.field(row.name, number(row.age.seconds)) }
        }
        try output.document(document)
    }
}

/// One value that a server may decide, or one address of a server.
private struct RefreshedValue {
    let name: String
    let value: ProfileValue
    let from: EffectivePolicy.Source
    let age: ValueAge

    /// The values that a policy may decide; then the addresses in the profile; then those that the server names.
    static func all(of profile: Profile, _ known: ServerDocument) -> [RefreshedValue] {
        let policies: [ProfileKey] = [
            .offlineAuthAllowed, .maxLoginAttempts, .cryptoScheme, .offlineCredentialMaxAge, .locationUpdateEnabled,
            .locationUpdateDistanceFilter,
        ]
        let addresses: [ProfileKey] = [
            .loginURL, .logoutURL, .profileURL, .oauthTokenEndpoint, .oauthDiscoveryURL, .oammsURL,
        ]
        let own = (policies + addresses).compactMap { key -> RefreshedValue? in
            guard let value = profile.effective(key, known.policy) else { return nil }
            let from = profile.source(of: key, known.policy)
            // The default of a key without effect would only fill the page.
            guard profile.effect(of: key) == .acts || from != .standard else { return nil }
            let age: ValueAge = from == .server ? .of(known.policyAge) : .none
            return RefreshedValue(name: key.rawValue, value: value, from: from, age: age)
        }
        return own
            + known.endpoints.map {
                RefreshedValue(name: $0.kind.name, value: .text($0.address), from: .server, age: .of(known.endpointsAge))
            }
    }
}

/// The age of a value.
enum ValueAge {
    /// The value does not come from a server.
    case none
    case unknown
    case seconds(Int64)

    static func of(_ seconds: Int64?) -> ValueAge { seconds.map { .seconds($0) } ?? .unknown }

    var seconds: Int64? { if case .seconds(let seconds) = self { seconds } else { nil } }

    /// For people the largest unit, for scripts seconds.
    func cell(isForPeople: Bool) -> String {
        switch self {
        case .none: "-"
        case .unknown: "unknown"
        case .seconds(let seconds): isForPeople ? Self.words(seconds) : "\(seconds)"
        }
    }

    /// Seconds as "12 s", "5 min", "7 h" or "3 days". A part of a unit is left out.
    static func words(_ seconds: Int64) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min"
        case ..<86_400: "\(seconds / 3_600) h"
        default: Int(seconds / 86_400).of("day")
        }
    }
}
