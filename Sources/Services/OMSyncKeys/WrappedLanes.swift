// What a wrap holds for a member, sealed and opened. Format: docs/formats/sync.md, "Roll".

package import OMParcels
package import OMRecords
package import OMSecrets

/// The lanes of one epoch, and the link.
package struct WrappedLanes: Sendable {
    package let afterFirstUnlock: Lane
    package let whenUnlocked: Lane
    package let link: LinkKey

    package init(afterFirstUnlock: Lane, whenUnlocked: Lane, link: LinkKey) {
        precondition(afterFirstUnlock.epoch == whenUnlocked.epoch, "the lanes of one epoch")
        (self.afterFirstUnlock, self.whenUnlocked, self.link) = (afterFirstUnlock, whenUnlocked, link)
    }

    /// Seals the lanes of after-first-unlock and when-unlocked and the link for a member.
    ///
    /// - Parameters:
    ///   - entry: The number of the entry that has the wrap.
    ///   - vault: The vault's id: 16 bytes.
    /// - Throws: ``SecretsError/cannotOpen`` for a public key that is none.
    package func wrap(for member: RollMember, entry: UInt32, vault: [UInt8]) throws(SecretsError) -> LaneWrap {
        var content = SecretBuffer(capacity: LaneWrap.Kind.unlocked.contentCount)
        afterFirstUnlock.withKey { $0.withExposedBytes { content.append($0) } }
        whenUnlocked.withKey { $0.withExposedBytes { content.append($0) } }
        link.withKey { $0.withExposedBytes { content.append($0) } }
        let scope = LaneWrap.Scope(member: member.number, kind: .unlocked, laneEpoch: whenUnlocked.epoch)
        return try LaneWrap.seal(content.finish(), scope, to: member.keys.wrapping, (vault, entry))
    }

    /// Seals the lane of `always` for a member.
    package static func wrap(
        always lane: Lane, for member: RollMember, entry: UInt32, vault: [UInt8]
    ) throws(SecretsError) -> LaneWrap {
        precondition(lane.level == .always, "the lane of always")
        let scope = LaneWrap.Scope(member: member.number, kind: .always, laneEpoch: lane.epoch)
        let content = lane.withKey { $0.withExposedBytes { SecretBytes(copying: $0) } }
        return try LaneWrap.seal(content, scope, to: member.keys.alwaysWrapping, (vault, entry))
    }

    /// - Throws: ``SecretsError/cannotOpen``.
    package init(
        opening wrap: LaneWrap, with key: borrowing Key<Agreeing>, entry: UInt32, vault: [UInt8]
    ) throws(SecretsError) {
        guard wrap.scope.kind == .unlocked else { throw .cannotOpen }
        let content = try wrap.open(with: key, (vault, entry))
        afterFirstUnlock = Lane(.afterFirstUnlock, epoch: wrap.scope.laneEpoch, try content.key(at: 0))
        whenUnlocked = Lane(.whenUnlocked, epoch: wrap.scope.laneEpoch, try content.key(at: 32))
        link = LinkKey(try content.key(at: 64))
    }

    /// The lane of `always` in a wrap.
    ///
    /// - Throws: ``SecretsError/cannotOpen``.
    package static func always(
        opening wrap: LaneWrap, with key: borrowing Key<Agreeing>, entry: UInt32, vault: [UInt8]
    ) throws(SecretsError) -> Lane {
        guard wrap.scope.kind == .always else { throw .cannotOpen }
        return Lane(.always, epoch: wrap.scope.laneEpoch, try wrap.open(with: key, (vault, entry)).key(at: 0))
    }
}

extension SecretBytes {
    /// The 32 bytes from an offset on.
    fileprivate func key<Use: KeyUse>(at offset: Int) throws(SecretsError) -> Key<Use> {
        try Key(readFrom: withBytes { SecretBytes(copying: $0.extracting(offset..<offset + 32)) })
    }
}

extension LaneWrap {
    /// The vault's id, and the number of the entry that has the wrap.
    fileprivate typealias Place = (vault: [UInt8], entry: UInt32)

    /// - Parameter publicKey: The member's wrapping key of this kind.
    fileprivate static func seal(
        _ content: borrowing SecretBytes, _ scope: Scope, to publicKey: [UInt8], _ place: Place
    ) throws(SecretsError) -> LaneWrap {
        let once = Key<Agreeing>.random()
        let sender = MontgomeryPoint.publicKey(of: once)
        let context = context(scope, sender: sender, owner: publicKey, place)
        let key = try MontgomeryPoint.agree(once, with: publicKey).derive(context, as: Sealing.self)
        return LaneWrap(scope, sender: sender, box: AEAD.seal(content, using: key, context: context).bytes)
    }

    fileprivate func open(with privateKey: borrowing Key<Agreeing>, _ place: Place) throws(SecretsError) -> SecretBytes {
        let owner = MontgomeryPoint.publicKey(of: privateKey)
        let context = Self.context(scope, sender: sender, owner: owner, place)
        let key = try MontgomeryPoint.agree(privateKey, with: sender).derive(context, as: Sealing.self)
        return try AEAD.open(SealedBox(stored: box), using: key, context: context)
    }

    /// All that the wrap is for.
    ///
    /// Attack: a member puts the wrap of another entry, epoch or member into its own entry.
    private static func context(_ scope: Scope, sender: [UInt8], owner: [UInt8], _ place: Place) -> Context {
        Context(
            .syncWrap, .bytes(place.vault), .number(UInt64(place.entry)), .number(UInt64(scope.member)),
            .number(UInt64(scope.kind.rawValue)), .number(UInt64(scope.laneEpoch)), .bytes(sender), .bytes(owner))
    }
}
