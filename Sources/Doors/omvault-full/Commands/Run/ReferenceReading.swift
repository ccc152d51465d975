// The values of references. Each vault is opened once, when the first of its values is needed.

internal import Glibc
internal import OMCrypto
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// The answer to a reference.
struct ReferencedValue: ~Copyable {
    let bytes: SecretBytes
    /// Whether output is to conceal it: a shown field is not secret, and neither is an item's type.
    let isConcealed: Bool

    consuming func take() -> SecretBytes { bytes }
}

final class ReferenceReading {
    private let context: CommandContext
    private let unlock: UnlockOptions
    private let secrets: SecretSources
    private let refusesCopies: Bool
    private var vaults: [String?: VaultAccess] = [:]

    /// - Parameters:
    ///   - refusesCopies: Whether a value is refused while a conflict copy has another one.
    ///   - dataOption: The option whose data comes from standard input, if there is one.
    init(
        _ context: CommandContext, _ unlock: UnlockOptions, refusesCopies: Bool,
        standardInputIsDataOf dataOption: String? = nil
    ) throws(Failure) {
        (self.context, self.unlock, self.refusesCopies) = (context, unlock, refusesCopies)
        secrets = try SecretSources(context, unlock.sources, standardInputIsDataOf: dataOption)
    }

    /// - Throws: ``ExitStatus/notFound``, ``ExitStatus/ambiguous`` for a reference without a field, ``ExitStatus/locked``, and
    ///   all others of `get`.
    func value(of reference: ValueReference) throws -> ReferencedValue {
        let access = try access(reference.vault)
        do {
            return try value(of: reference, access)
        } catch let failure as Failure {
            throw access.explainingTrash(reference.explainingSlash(failure), [reference.item], unlock)
        }
    }

    /// The items of a vault whose names begin so, without their secrets.
    func items(_ vault: String?, startingWith prefix: String) throws -> [Item] {
        let access = try access(vault)
        try access.unlock(secrets, unlock)
        return try access.perform(.items(trashed: false)).items().filter { $0.name.text.hasPrefix(prefix) }
    }

    private func access(_ vault: String?) throws(Failure) -> VaultAccess {
        if let known = vaults[vault] { return known }
        let access = try VaultAccess(context, vault: vault)
        access.refusesCopies = refusesCopies
        vaults[vault] = access
        return access
    }

    private func value(of reference: ValueReference, _ access: VaultAccess) throws -> ReferencedValue {
        let item = try item(reference, access)
        switch reference.attribute {
        case nil:
            let path = try path(reference, of: item)
            let value = try read(path, access)
            // A main field is concealed or not, as any other.
            let isShown = item.fields.contains { $0.name == path.field && $0.shownValue != nil }
            switch reference.format {
            case nil: return ReferencedValue(bytes: value, isConcealed: !isShown)
            case .base64: return ReferencedValue(bytes: Base64.encode(value), isConcealed: !isShown)
            case .hex: return ReferencedValue(bytes: Hex.encode(value), isConcealed: !isShown)
            }
        case .otp, .totp: return ReferencedValue(bytes: try code(reference, of: item, access), isConcealed: true)
        case .sha256:
            let value = try read(try path(reference, of: item), access)
            return ReferencedValue(bytes: Hex.encode(try Digest.of(value, .sha256)), isConcealed: true)
        case .len:
            let name = try path(reference, of: item).field
            return Self.shown("\(item.fields.first { $0.name == name }?.count ?? 0)")
        case .type: return Self.shown(item.details.type?.rawValue ?? "none")
        case .created: return Self.shown(Timestamp.text(item.created))
        case .modified: return Self.shown(Timestamp.text(item.modified))
        }
    }

    private static func shown(_ text: String) -> ReferencedValue {
        ReferencedValue(bytes: SecretBytes(copying: Array(text.utf8)), isConcealed: false)
    }

    /// The item. If the reference names a field, the item must have it.
    private func item(_ reference: ValueReference, _ access: VaultAccess) throws -> Item {
        let item = try access.read(.item(reference.item), secrets, unlock).item()
        if let field = reference.field, !item.fields.contains(where: { $0.name == field }) {
            throw access.failure(.noField(field, of: reference.item))
        }
        return item
    }

    private func path(_ reference: ValueReference, of item: Item) throws -> FieldPath {
        FieldPath(item.name, try reference.field ?? MainField(of: item).required())
    }

    private func read(_ path: FieldPath, _ access: VaultAccess) throws -> SecretBytes {
        switch try access.read(.secret(path, revision: nil), secrets, unlock) {
        case .large(let count, _, _):
            throw Failure(
                .usage, "the value of \"\(path.item.text.shown)\" has \(count) bytes; a reference can name 1 MiB at most",
                hint: "omvault get \(path.item.shellReference(to: path.field.text)) > FILE")
        case let reply: return try reply.secret()
        }
    }

    private func code(_ reference: ValueReference, of item: Item, _ access: VaultAccess) throws -> SecretBytes {
        let path = FieldPath(item.name, try reference.field ?? OTPField(of: item).required())
        let uri = try OTPAuthURI(readingURIOrSecret: try read(path, access))
        guard case .time = uri.password.factor else {
            throw Failure(
                .usage, "\"\(path.item.text.shown)\" has a counted code, which is used up by reading it",
                hint: "omvault otp \(path.item.shellReference(to: path.field.text))")
        }
        return try uri.password.code(at: UInt64(clamping: time(nil)))
    }
}

extension ValueReference {
    /// Accident: `om://work/prod/db` is meant as the item `prod/db`, and names the field `db` of `prod`.
    fileprivate func explainingSlash(_ failure: Failure) -> Failure {
        guard failure.vaultError == .noItem(item), let vault, let field else { return failure }
        let hint =
            "the last part is the field; for an item \"\(item.text)/\(field.text)\": om://\(vault)/\(item.text)/\(field.text)/"
        return failure.with(hints: failure.hints + [hint])
    }
}
