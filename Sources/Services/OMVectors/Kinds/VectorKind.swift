// A kind of vectors: the groups of one format that it takes, and the computation for each of their records. To add a kind,
// add a file in this folder with its checks and a `static let all: [VectorKind]`, and one line in VectorKindList.swift.

struct VectorKind: Sendable {
    /// Nil for a group of another kind.
    typealias Planner = @Sendable (VectorGroup) throws(UnreadableFile) -> GroupPlan?

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

    static func wycheproof(_ type: String, _ plan: @escaping Planner) -> VectorKind {
        VectorKind(source: .wycheproof(type: type), plan: plan)
    }

    static func native(
        _ kind: String, params: Set<String>, test: Set<String>, _ plan: @escaping Planner
    ) -> VectorKind {
        VectorKind(source: .native(kind: kind, params: params, test: test), plan: plan)
    }

    static func acvp(_ algorithms: Set<String>, _ plan: @escaping Planner) -> VectorKind {
        VectorKind(source: .acvp(algorithms), plan: plan)
    }

    static func text(_ layout: TextLayout, _ plan: @escaping Planner) -> VectorKind {
        VectorKind(source: .text(layout), plan: plan)
    }

    static func rsaLabs(_ scheme: String, _ plan: @escaping Planner) -> VectorKind {
        VectorKind(source: .rsaLabs(scheme: scheme), plan: plan)
    }

    static func signInput(_ plan: @escaping Planner) -> VectorKind { VectorKind(source: .signInput, plan: plan) }
}
