// A kind says which groups of one format it takes and what computation each of their records asks for. To add one:
// a file in this folder with its checks and a `static let all: [Kind]`, and one line in Kinds.swift.

/// A group of records that share their parameters, as a reader found it.
struct VectorGroup: Sendable {
    /// Wycheproof's and ACVP's `algorithm`, the native `kind`, the name of a text kind.
    let algorithm: String
    /// ACVP's `mode`, such as `sigVer`.
    var mode: String?
    /// Wycheproof's `type`, ACVP's `testType`.
    var type = ""
    /// What a report calls the algorithm: `ECDSA sigVer`, `block AES CBC`.
    let title: String
    /// The group's own fields: a JSON object, or `[Name = value]` and the fields that stay in force in a text file.
    let parameters: Fields
    /// `[ENCRYPT]`, `[P-256,SHA-256]`: the sections without a value that are in force.
    var words: [String] = []
    /// The head of a text file: its comments and its name.
    var head: TextHead?
    /// The files beside it, for records that name one.
    var companions = Companions.none
}

/// What becomes of a record.
enum Plan: Sendable {
    case run(any Check)
    case skip(String)
}

/// What becomes of a group's records.
///
/// `flips` names the fields that ``Control`` may flip a bit of: each must decide whether a valid case is right.
enum GroupPlan: Sendable {
    /// Each record is a case. The expectation matters to checks for which an invalid record lists less.
    case each(flips: [String], @Sendable (Fields, Expectation) throws(Unreadable) -> Plan)
    /// All records together are one case, a Monte Carlo chain.
    case chain(flips: [String], @Sendable ([Fields]) throws(Unreadable) -> Plan)
    /// They are left out, and this is why.
    case skip(String)
}

struct Kind: Sendable {
    /// Nil for a group that is another kind's.
    typealias Planner = @Sendable (VectorGroup) throws(Unreadable) -> GroupPlan?

    enum Source: Sendable {
        /// Groups of this `type`.
        case wycheproof(type: String)
        /// Files of this `kind`, whose params and tests have no other members than these.
        case native(kind: String, params: Set<String>, test: Set<String>)
        /// Vector sets of these algorithms.
        case acvp(Set<String>)
        case text(TextLayout)
        /// `pkcs-1v2-1d2-vec`, by the scheme that its first line names: `RSA-PSS`.
        case rsaLabs(scheme: String)
        case signInput
    }

    let source: Source
    let plan: Planner

    static func wycheproof(_ type: String, _ plan: @escaping Planner) -> Kind {
        Kind(source: .wycheproof(type: type), plan: plan)
    }

    static func native(
        _ kind: String, params: Set<String>, test: Set<String>, _ plan: @escaping Planner
    ) -> Kind {
        Kind(source: .native(kind: kind, params: params, test: test), plan: plan)
    }

    static func acvp(_ algorithms: Set<String>, _ plan: @escaping Planner) -> Kind {
        Kind(source: .acvp(algorithms), plan: plan)
    }

    static func text(_ layout: TextLayout, _ plan: @escaping Planner) -> Kind {
        Kind(source: .text(layout), plan: plan)
    }

    static func rsaLabs(_ scheme: String, _ plan: @escaping Planner) -> Kind {
        Kind(source: .rsaLabs(scheme: scheme), plan: plan)
    }

    static func signInput(_ plan: @escaping Planner) -> Kind { Kind(source: .signInput, plan: plan) }
}
