// Client identities in a vault: `Vault` and the agent answer the same calls.

public import OMCrypto
internal import OMItems
public import OMRecords
package import OMSecrets

extension ItemBackend where Self: ~Copyable {
    /// The identities, in the order of their items' names.
    public borrowing func clientIdentities() throws(Problem) -> [ClientIdentity] {
        guard case .items(let items) = try perform(.items(trashed: false)) else { return [] }
        var found: [ClientIdentity] = []
        for item in items {
            guard ClientIdentity.name(of: item.name) != nil, ClientIdentity.Field.key.isIn(item) else { continue }
            found.append(try clientIdentity(item))
        }
        return found
    }

    /// - Throws: ``VaultError/noItem(_:)`` also for an item of this name without a private key.
    public borrowing func clientIdentity(named name: String) throws(Problem) -> ClientIdentity {
        let itemName = try asProblem { () throws(VaultError) in try ClientIdentity.itemName(name) }
        guard case .item(let item) = try perform(.item(itemName)), ClientIdentity.Field.key.isIn(item) else {
            throw Self.problem(.noItem(itemName))
        }
        return try clientIdentity(item)
    }

    /// Stores the identities in one change: all or none. An identity that is there already, with the same key, certificate and
    /// chain, is left as it is. No identity is ever replaced.
    ///
    /// - Parameter level: The level of new items. The default is the SDK's: readable while the vault is unlocked, and bound to
    ///   this device.
    /// - Returns: Each identity in the order of `new`, and whether it was stored now.
    /// - Throws: ``VaultError/itemExists(_:)`` for another identity of the name.
    public borrowing func importIdentities(
        _ new: [NewClientIdentity], level: ProtectionLevel = .highest
    ) throws(Problem) -> [(identity: ClientIdentity, isNew: Bool)] {
        do throws(Problem) { return try importOnce(new, level) } catch {
            guard case .exists = Self.itemProblem(of: error) else { throw error }
            // Another process may have imported the same file meanwhile.
            return try importOnce(new, level)
        }
    }

    private borrowing func importOnce(
        _ new: [NewClientIdentity], _ level: ProtectionLevel
    ) throws(Problem) -> [(identity: ClientIdentity, isNew: Bool)] {
        let present = try clientIdentities()
        var (places, added): ([ClientIdentity?], [NewItem]) = ([], [])
        for one in new {
            let same = try same(as: one, in: present)
            places.append(same)
            guard same == nil else { continue }
            added.append(
                try asProblem { () throws(VaultError) in
                    NewItem(try ClientIdentity.itemName(one.name), level: level, try one.change(withKey: true))
                })
        }
        var stored: ArraySlice<Item> = []
        if !added.isEmpty, case .items(let items) = try perform(.addAll(added)) { stored = items[...] }
        return zip(new, places).compactMap { one, place in
            if let place { return (place, false) }
            return stored.popFirst().map {
                (ClientIdentity(item: $0, certificate: one.certificate, chain: one.chain), true)
            }
        }
    }

    /// Stores a key that waits for its certificate.
    ///
    /// - Throws: ``VaultError/itemExists(_:)``.
    public borrowing func addIdentity(
        _ name: String, key: borrowing PrivateKey, level: ProtectionLevel = .highest
    ) throws(Problem) {
        // Writing a key that exists can only fail without memory.
        guard let text = try? KeyText.pem(unencryptedPKCS8: key.unencryptedPKCS8()) else { throw Self.problem(.outOfMemory) }
        var values = FieldValues()
        let itemName: ItemName
        do throws(VaultError) {
            itemName = try ClientIdentity.itemName(name)
            try values.put(text, at: ClientIdentity.Field.key.name)
        } catch { throw Self.problem(error) }
        var change = ItemChange(set: values)
        change.type = .becomes(.certificate)
        _ = try perform(.add(itemName, level: level, change))
    }

    /// Gives the identity the certificate and the chain of `new`, which was made with the key of the identity. The key stays as
    /// it is. The versions of the item keep the old certificate.
    ///
    /// - Throws: ``VaultError/changedMeanwhile(_:revision:)``, ``VaultError/unchanged``.
    public borrowing func attach(_ new: NewClientIdentity, to identity: ClientIdentity) throws(Problem) {
        var change: ItemChange
        do throws(VaultError) { change = try new.change(withKey: false) } catch { throw Self.problem(error) }
        let hadChain = ClientIdentity.Field.chain.isIn(identity.item)
        if new.chain.isEmpty, hadChain { change.removed = [ClientIdentity.Field.chain.name] }
        _ = try perform(.update(identity.item.name, change, ifRevision: identity.item.revision))
    }

    /// The private key in PKCS#8. Only the process that makes a signature needs it.
    package borrowing func keyText(of identity: ClientIdentity) throws(Problem) -> SecretBytes? {
        try value(.key, of: identity.item)
    }

    // MARK: Steps

    private borrowing func clientIdentity(_ item: Item) throws(Problem) -> ClientIdentity {
        let own = try certificates(.certificate, of: item)
        return ClientIdentity(
            item: item, certificate: own.count == 1 ? own[0] : nil, chain: try certificates(.chain, of: item))
    }

    /// None for a field that is missing, or that the user filled with something else.
    private borrowing func certificates(
        _ field: ClientIdentity.Field, of item: Item
    ) throws(Problem) -> [Certificate] {
        guard let text = try value(field, of: item) else { return [] }
        return (try? Certificate.all(in: text)) ?? []
    }

    private borrowing func value(_ field: ClientIdentity.Field, of item: Item) throws(Problem) -> SecretBytes? {
        guard field.isIn(item) else { return nil }
        // With its revision a conflict copy of the item does not count.
        guard case .secret(let value) = try perform(.secret(FieldPath(item.name, field.name), revision: item.revision)) else {
            return nil
        }
        return value
    }

    /// The stored identity with the same key, certificate and chain. The bytes are compared, the private key's too: a caller may
    /// delete the file of an identity that is here.
    private borrowing func same(
        as new: NewClientIdentity, in present: [ClientIdentity]
    ) throws(Problem) -> ClientIdentity? {
        for one in present where !new.isNamed || one.name == new.name {
            guard one.certificate == new.certificate, one.chain == new.chain else { continue }
            guard let key = try value(.key, of: one.item) else { continue }
            let isSame = key.withBytes { key in new.keyText.withBytes { ConstantTime.areEqual(key, $0) } }
            if isSame { return one }
        }
        return nil
    }

    private borrowing func asProblem<R>(_ body: () throws(VaultError) -> R) throws(Problem) -> R {
        do throws(VaultError) { return try body() } catch { throw Self.problem(error) }
    }
}

extension ClientIdentity.Field {
    /// Whether the item has this field, with a value that is read as a whole.
    fileprivate func isIn(_ item: Item) -> Bool { item.fields.contains { $0.name == name && !$0.isLarge } }
}
