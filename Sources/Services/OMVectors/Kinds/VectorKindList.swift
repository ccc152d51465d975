// All kinds, in the order in which a reader asks them.

enum VectorKindList {
    static let all: [VectorKind] = [
        // Hashing and passwords
        DigestKinds.all,
        HMACKinds.all,
        HKDFKinds.all,
        StoredHashKinds.all,
        Argon2Kinds.all,
        PBKDF2Kinds.all,
        ScryptKinds.all,
        BCryptKinds.all,
        PasswordHashKinds.all,
        OneTimePasswordKinds.all,

        // Symmetric ciphers
        BlockKinds.all,
        AEADKinds.all,
        KeyWrapKinds.all,
        PassphraseCipherKinds.all,
        ContainerKinds.all,

        // Key pairs, signatures, wrapping
        RSAKinds.all,
        RSATextKinds.all,
        CurveKinds.all,
        CurveTextKinds.all,
        AgreementKinds.all,
        EdwardsKinds.all,
        KeyFileKinds.all,
        JOSEKinds.all,
    ].flatMap { $0 }

    static func wycheproof(_ group: VectorGroup) throws(UnreadableFile) -> GroupPlan? {
        try plan(group) { kind in if case .wycheproof(group.type) = kind.source { true } else { false } }
    }

    static func acvp(_ group: VectorGroup) throws(UnreadableFile) -> GroupPlan? {
        try plan(group) { kind in
            if case .acvp(let algorithms) = kind.source { algorithms.contains(group.algorithm) } else { false }
        }
    }

    static func rsaLabs(_ group: VectorGroup) throws(UnreadableFile) -> GroupPlan? {
        try plan(group) { kind in if case .rsaLabs(group.algorithm) = kind.source { true } else { false } }
    }

    static func signInput(_ group: VectorGroup) throws(UnreadableFile) -> GroupPlan? {
        try plan(group) { kind in if case .signInput = kind.source { true } else { false } }
    }

    /// The plan, and the members that the group's tests may have.
    static func native(_ group: VectorGroup) throws(UnreadableFile) -> (plan: GroupPlan, fields: Set<String>)? {
        for kind in all {
            guard case .native(group.algorithm, let params, let test) = kind.source else { continue }
            if let plan = try kind.plan(group) {
                // A skipped group may have fields that its kind does not know.
                if case .skip = plan {} else { try group.parameters.requireOnly(params) }
                return (plan, test)
            }
        }
        return nil
    }

    /// The first text kind whose layout matches a file with this head.
    static func text(_ head: TextHeader) -> (layout: TextLayout, kind: VectorKind)? {
        for kind in all {
            if case .text(let layout) = kind.source, layout.matches(head) { return (layout, kind) }
        }
        return nil
    }

    private static func plan(
        _ group: VectorGroup, _ isMine: (VectorKind) -> Bool
    ) throws(UnreadableFile) -> GroupPlan? {
        for kind in all where isMine(kind) {
            if let plan = try kind.plan(group) { return plan }
        }
        return nil
    }
}
