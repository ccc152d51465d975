// The pairing as the device sees it that adds another one. Format: docs/formats/sync.md, "Pairing".

package import OMItems
package import OMParcels
internal import OMSecrets
internal import OMSyncKeys
package import OMVault

/// One pairing on the old device. It is in this process only: if the process ends, the code is dead.
///
///     var pairing = try vault.invite(until: expires)
///     try pairing.putInvitation(on: store)
///     while try pairing.takeRequest(from: store, now: now) == nil { … }
///     guard pairing.accepts(typed) else { … }
///     let entry = try pairing.add(to: vault, now: now)
///     // push
///     try pairing.putDone(entry, on: store)
package struct OldDevicePairing: ~Copyable {
    package let messages: PairingMessages
    package let invitation: PairingInvitation
    private let random: [UInt8]
    private var pairing: Pairing?
    private var isTried = false
    private var isAccepted = false

    fileprivate init(_ invitation: PairingInvitation, _ random: [UInt8]) {
        messages = PairingMessages(.random())
        (self.invitation, self.random) = (invitation, random)
    }

    package borrowing func putInvitation<Store: RemoteStore>(on store: Store) throws(Store.Failure) {
        try messages.put(.invitation, invitation.encoded, on: store)
    }

    /// Takes the first request that is right, and answers it.
    ///
    /// Attack: a thief of the code puts requests until the digits are those of the new device. Only the first counts, and the
    /// random bytes are revealed after it was taken.
    ///
    /// - Returns: The name of the new device. Nil if no such request is there yet.
    /// - Throws: ``PairingProblem/expired``, and the errors of the files.
    package mutating func takeRequest<Store: RemoteStore>(from store: Store, now: Int64) throws -> DeviceName? {
        guard now <= invitation.expires else { throw PairingProblem.expired }
        if pairing == nil {
            guard let bytes = try messages.read(.request, from: store), let request = try? PairingRequest(decoding: bytes),
                let right = try? Pairing(invitation, request, at: now)
            else { return nil }
            pairing = right
        }
        guard let pairing else { return nil }
        // Also if an earlier try to write it failed: the request stays the same.
        try messages.put(.reveal, PairingReveal(request: pairing.request.digest, random: random).encoded, on: store)
        return pairing.request.name
    }

    /// Compares the digits that the user typed. There is one try.
    package mutating func accepts(_ typed: String) -> Bool {
        guard let pairing, !isTried else { return false }
        isTried = true
        let reveal = PairingReveal(request: pairing.request.digest, random: random)
        isAccepted = (try? pairing.digits(reveal)) == typed
        return isAccepted
    }

    /// Signs the entry that adds the new device. The digits were right, and the user agreed.
    ///
    /// - Throws: ``VaultError``, and ``PairingProblem/unknownCode``.
    package borrowing func add(to vault: borrowing Vault, now: Int64) throws -> RollEntry {
        guard let pairing, isAccepted else { preconditionFailure("the digits come first") }
        guard let entry = try vault.addDevice(pairing.request.keys, named: pairing.request.name, now: now) else {
            throw PairingProblem.unknownCode
        }
        return entry
    }

    /// Tells the new device that it is a member. The entry is on the remote already.
    package borrowing func putDone<Store: RemoteStore>(_ entry: RollEntry, on store: Store) throws(Store.Failure) {
        let done = PairingDone(entryNumber: entry.contents.number, entryDigest: entry.digest)
        try messages.put(.done, done.encoded, on: store)
    }

    /// Whether the new device has taken its request away: it has read all that it needs.
    package borrowing func isOver<Files: RemoteFiles>(on files: Files) throws(Files.Failure) -> Bool {
        // A folder that is not mounted has no request either.
        guard try files.bytes(of: .founding) != nil else { return false }
        return try messages.read(.request, from: files) == nil
    }

    package borrowing func remove<Store: RemoteStore>(from store: Store) throws(Store.Failure) {
        try messages.remove([.invitation, .reveal, .done], from: store)
    }
}

extension Vault {
    /// Begins to add a device.
    ///
    /// - Parameter expires: By this device's clock, in seconds since 1970.
    /// - Returns: Nil if this device has written to no remote yet: the new one could not tell what it must find there.
    package func invite(until expires: Int64) throws(VaultError) -> OldDevicePairing? {
        let random = Random.bytes(32)
        let invitation: PairingInvitation? = try readSync { access throws(VaultError) in
            guard let own = access.own else { throw .corrupt(.sync) }
            let roll = try DeviceRoll(access).roll
            var remotes: [PairingInvitation.Remote] = []
            for row in try RemoteRow.all(access) {
                guard try RemoteView(row, access).known.newest[own.device] != nil else { continue }
                remotes.append(PairingInvitation.Remote(incarnation: row.incarnation, url: row.url))
            }
            guard !remotes.isEmpty else { return nil }
            return PairingInvitation(
                vault: access.vault, device: own.device, rollNumber: UInt32(roll.entries.count - 1),
                rollDigest: roll.digests[roll.digests.count - 1], expires: expires,
                commitment: PairingInvitation.commitment(to: random), remotes: remotes)
        }
        guard let invitation else { return nil }
        return OldDevicePairing(invitation, random)
    }
}
