// One secret, tried at all slots that it may open. Format: docs/formats/vault-format.md, "Slots of a try", "Wrong passwords".

internal import OMItems
internal import OMSecrets
internal import OMStorage

extension KeySlot {
    /// The most password slots of a vault. One try covers at most as many.
    package static let maximumPasswords = 8

    /// The slots at which a typed secret is tried, by rising id: those of one kind, and for a recovery code the shared ones too.
    ///
    /// The first is always tried. A slot with more lanes than this build computes is left out if there are others.
    public static func tried(_ kind: Kind, of slots: [KeySlot]) -> [KeySlot] {
        let all = slots.filter { $0.kind.secretKind == kind.secretKind }
        let computed = all.filter { ($0.stretch?.lanes ?? 1) == 1 }
        var (tried, work): ([KeySlot], Int) = ([], 0)
        for slot in computed.isEmpty ? all : computed {
            work += slot.stretch?.work ?? 0
            // Attack: a vault has 64 slots of 1 GiB and 16 passes, so that one code keeps the machine busy for half an
            // hour. So the work of one try is limited.
            let fits = work <= Argon2id.mostWork && (kind != .password || tried.count < maximumPasswords)
            guard tried.isEmpty || fits else { break }
            tried.append(slot)
        }
        return tried
    }

    /// Opens the first of several slots that `key` fits.
    ///
    /// - Parameters:
    ///   - counter: For password slots. One charge covers them all.
    ///   - key: The key for a slot, from the typed secret.
    /// - Throws: ``VaultError/cannotUnlock`` if none opens; ``VaultError/delayed(seconds:)``.
    static func open(
        anyOf slots: [KeySlot], device: borrowing DeviceKey?, counter: consuming PasswordCounter?,
        with key: (KeySlot) throws(VaultError) -> Key<Unlocking>
    ) throws(VaultError) -> OpenedSlot {
        switch counter {
        case .none: return try first(of: slots, device, key)
        case .some(let counter):
            // All keys are stretched before the charge: the charge holds a lock, and a right password
            // may belong to the last slot.
            var keys: [UInt32: StretchedKey] = [:]
            for slot in slots { keys[slot.id] = StretchedKey(try key(slot)) }
            // Attack: an attacker ends the process between two slots, so that the first ones are checked without a
            // charge. So the one charge is on the disk before the first check.
            return try counter.attempt { () throws(VaultError) in
                try first(of: slots, device) { slot throws(VaultError) in
                    guard let stretched = keys[slot.id] else { throw .cannotUnlock }
                    return stretched.key.duplicate()
                }
            }
        }
    }

    private static func first(
        of slots: [KeySlot], _ device: borrowing DeviceKey?,
        _ key: (KeySlot) throws(VaultError) -> Key<Unlocking>
    ) throws(VaultError) -> OpenedSlot {
        for slot in slots {
            let key = try key(slot)
            do throws(VaultError) {
                return OpenedSlot(slot: slot, root: try slot.unwrap(with: key, device: device))
            } catch {
                guard error == .cannotUnlock else { throw error }
            }
        }
        throw .cannotUnlock
    }
}

/// A slot that opened, and the root key behind it.
struct OpenedSlot: ~Copyable {
    let slot: KeySlot
    let root: Key<Deriving>
}

/// A class, so that a dictionary can hold several.
private final class StretchedKey {
    let key: Key<Unlocking>

    init(_ key: consuming Key<Unlocking>) { self.key = key }
}
