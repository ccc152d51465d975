// The pairing as the new device sees it. Format: docs/formats/sync.md, "Pairing".

package import OMItems
package import OMParcels
internal import OMSecrets
internal import OMSyncKeys
package import OMVault

/// One pairing on the new device. It is in this process only.
///
///     let invitation = try NewDevicePairing.invitation(in: messages, store, vault: …, incarnation: …)
///     let pairing = try NewDevicePairing(invitation, vault, named: name)
///     try pairing.putRequest(messages, on: store)
///     // until each is there:
///     let digits = try pairing.digits(messages, from: store)
///     let roll = try pairing.roll(messages, from: store)
///     try pairing.join(vault, roll, now: now)
package struct NewDevicePairing: Sendable {
    package let invitation: PairingInvitation
    private let device: NewDevice
    private let pairing: Pairing

    /// The invitation, if this remote has the one of the code.
    ///
    /// - Parameters:
    ///   - vault: The vault's id, as the name of the remote's folder has it. Both have 16 bytes.
    /// - Returns: Nil if it is not there, or is about another remote.
    package static func invitation<Files: RemoteFiles>(
        in messages: borrowing PairingMessages, _ files: Files, vault: [UInt8], incarnation: [UInt8]
    ) throws(Files.Failure) -> PairingInvitation? {
        guard let bytes = try messages.read(.invitation, from: files), let invitation = try? PairingInvitation(decoding: bytes),
            invitation.vault == vault, invitation.remotes.contains(where: { $0.incarnation == incarnation })
        else { return nil }
        return invitation
    }

    /// Whether the vault has a recovery code that will open this device's file too.
    ///
    /// The digest in the invitation proves the entry that has it, and each entry proves the one before.
    ///
    /// - Returns: Nil if the files of the entries are not there yet.
    package static func hasRecoveryCode<Files: RemoteFiles>(
        _ invitation: PairingInvitation, in files: Files
    ) throws(Files.Failure) -> Bool? {
        let contents = try RemoteContents(reading: files, vault: invitation.vault)
        let all = contents.entries + (contents.founding.map { [$0] } ?? [])
        let byDigest = Dictionary(all.map { ($0.digest, $0) }) { first, _ in first }
        var (digest, chain): ([UInt8], [RollEntry]) = (invitation.rollDigest, [])
        while chain.last?.contents.number != 0 {
            guard let entry = byDigest[digest] else { return nil }
            chain.append(entry)
            digest = entry.contents.previous
        }
        return RollRecovery(newestOf: chain.reversed()) != nil
    }

    /// - Parameter vault: The new vault, with the id of the invitation.
    /// - Throws: ``VaultError``, ``PairingProblem``.
    package init(_ invitation: PairingInvitation, _ vault: borrowing Vault, named name: DeviceName) throws {
        precondition(vault.id == invitation.vault, "the files of all devices have one id")
        self.invitation = invitation
        device = try NewDevice(of: vault)
        let scope = MemberKeys.Scope(vault: vault.id, salt: device.salt)
        let keys = device.keys
        let request = try vault.withDeviceKey { deviceKey throws(VaultError) in
            try vault.withRootKey { root throws(VaultError) in
                PairingRequest(
                    invitation: invitation.digest, keys, name, vault: scope.vault, headKey: MemberKeys.head(deviceKey, scope),
                    memberKey: MemberKeys.member(root, scope))
            }
        }
        pairing = try Pairing(invitation, request, at: nil)
    }

    package func putRequest<Store: RemoteStore>(
        _ messages: borrowing PairingMessages, on store: Store
    ) throws(Store.Failure) {
        try messages.put(.request, pairing.request.encoded, on: store)
    }

    package func removeRequest<Store: RemoteStore>(
        _ messages: borrowing PairingMessages, from store: Store
    ) throws(Store.Failure) {
        try messages.remove([.request], from: store)
    }

    /// The six digits to show.
    ///
    /// - Returns: Nil if the old device has not answered yet.
    /// - Throws: ``PairingProblem/otherReveal``, and the errors of the files.
    package func digits<Files: RemoteFiles>(_ messages: borrowing PairingMessages, from files: Files) throws -> String? {
        guard let bytes = try messages.read(.reveal, from: files), let reveal = try? PairingReveal(decoding: bytes) else {
            return nil
        }
        return try pairing.digits(reveal)
    }

    /// The roll that has this device as a member.
    ///
    /// - Returns: Nil if the old device is not done, or its entry has not arrived yet.
    /// - Throws: ``PairingProblem/notAdded``, `RollProblem`, and the errors of the files.
    package func roll<Files: RemoteFiles>(_ messages: borrowing PairingMessages, from files: Files) throws -> Roll? {
        guard let bytes = try messages.read(.done, from: files), let done = try? PairingDone(decoding: bytes) else { return nil }
        let contents = try RemoteContents(reading: files, vault: invitation.vault)
        // The files of a folder arrive in any order, each entry behind a later one too.
        guard let founding = contents.founding, contents.entries.contains(where: { $0.digest == done.entryDigest }) else {
            return nil
        }
        let there = Set(contents.entries.map(\.contents.number))
        guard (0..<done.entryNumber).allSatisfy({ $0 == 0 || there.contains($0) }) else { return nil }
        // Of two entries of one number those count that the pairing names.
        let roll = try RollChoice(
            founding: founding, contents.entries, accepted: nil, keeping: [invitation.rollDigest, done.entryDigest]
        ).roll
        _ = try pairing.member(in: roll, after: done)
        return roll
    }

    /// Whether the old device has ended the pairing: it took its invitation away, and is not done.
    package func isEnded<Files: RemoteFiles>(
        _ messages: borrowing PairingMessages, on files: Files
    ) throws(Files.Failure) -> Bool { try Self.isEnded(messages, on: files) }

    /// The same before this device has a pairing.
    package static func isEnded<Files: RemoteFiles>(
        _ messages: borrowing PairingMessages, on files: Files
    ) throws(Files.Failure) -> Bool {
        // A folder that is not mounted has no invitation either.
        guard try files.bytes(of: .founding) != nil, try messages.read(.invitation, from: files) == nil else { return false }
        return try messages.read(.done, from: files) == nil
    }

    /// Makes the new vault a device of the roll.
    package func join(_ vault: borrowing Vault, _ roll: Roll, now: Int64) throws(VaultError) {
        try vault.joinSync(roll, salt: device.salt, now: now)
    }
}
