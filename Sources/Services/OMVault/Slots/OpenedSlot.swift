// One secret tried at the slots that it may open. Format: docs/vault-format.md, "Slots of a try", "Wrong passwords".

internal import OMSecrets
internal import OMStorage

extension KeySlot {
    /// The most password slots that a vault gets, and that one try goes to.
    package static let maximumPasswords = 8

    /// The slots of one kind that a typed secret is tried at, by rising id.
    ///
    /// The first is always tried. A slot with more lanes than this build computes is left out where there are others.
    public static func tried(_ kind: Kind, of slots: [KeySlot]) -> [KeySlot] {
        let all = slots.filter { $0.kind == kind }
        let computed = all.filter { ($0.stretch?.lanes ?? 1) == 1 }
        var (tried, work): ([KeySlot], Int) = ([], 0)
        for slot in computed.isEmpty ? all : computed {
            work += slot.stretch?.work ?? 0
            // Attack: a vault has 64 slots of 1 GiB and 16 passes, and one code keeps the machine busy for half an hour.
            let fits = work <= Argon2id.mostWork && (kind != .password || tried.count < maximumPasswords)
            guard tried.isEmpty || fits else { break }
            tried.append(slot)
        }
        return tried
    }

    /// Opens the first of several slots that `key` fits.
    ///
    /// - Parameters:
    ///   - counter: for password slots: one charge covers them all.
    ///   - key: the key that a slot asks for, from what was typed.
    /// - Throws: ``VaultError/cannotUnlock`` when none opens; ``VaultError/delayed(seconds:)``.
    static func open(
        anyOf slots: [KeySlot], vault: [UInt8], device: borrowing DeviceKey?, counter: consuming PasswordCounter?,
        with key: (KeySlot) throws(VaultError) -> Key<Unlocking>
    ) throws(VaultError) -> OpenedSlot {
        switch counter {
        case .none: return try first(of: slots, vault, device, key)
        case .some(let counter):
            // All of them before the charge: it holds a lock, and a right password may be that of the last slot.
            var keys: [UInt32: StretchedKey] = [:]
            for slot in slots { keys[slot.id] = StretchedKey(try key(slot)) }
            // Attack: end the process between two slots, and have the first ones checked for nothing. The one charge is on
            // the disk before the first check.
            return try counter.attempt { () throws(VaultError) in
                try first(of: slots, vault, device) { slot throws(VaultError) in
                    guard let stretched = keys[slot.id] else { throw .cannotUnlock }
                    return stretched.key.duplicate()
                }
            }
        }
    }

    private static func first(
        of slots: [KeySlot], _ vault: [UInt8], _ device: borrowing DeviceKey?,
        _ key: (KeySlot) throws(VaultError) -> Key<Unlocking>
    ) throws(VaultError) -> OpenedSlot {
        for slot in slots {
            let key = try key(slot)
            do throws(VaultError) {
                return OpenedSlot(slot: slot, root: try slot.unwrap(with: key, vault: vault, device: device))
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

/// A class, so that several can be kept in a dictionary.
private final class StretchedKey {
    let key: Key<Unlocking>

    init(_ key: consuming Key<Unlocking>) { self.key = key }
}
