// The new vault of a device that joined.

internal import OMItems
internal import OMParcels
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMVault

extension NewVault {
    /// Opens the vault that was made of this.
    borrowing func unlock(_ path: String) throws(VaultError) -> Vault {
        let file = try VaultFile.open(path, device: device)
        guard let slot = file.slots.first else { throw .cannotUnlock }
        return try file.unlock(slot, with: try slot.key(stretching: password.bytes))
    }

    /// The first exchange, once the vault has its name.
    ///
    /// - Parameter recovery: What made the recovery code of all devices that opens this vault. Nil if none does.
    borrowing func exchange(
        at location: VaultLocation, named name: DeviceName, opensWith recovery: RecoveryChange? = nil, _ context: CommandContext
    ) throws {
        let access = try VaultAccess(context, vault: location.name)
        let vault = try unlock(location.path)
        guard let status = try vault.syncStatus(), let remote = status.remotes.first else {
            throw Failure(.corrupt, "the new vault does not sync", hint: "please report it")
        }
        let exchange = RemoteExchange(with: remote.row, of: vault, access)
        let count = try vault.items().count
        let code = isCodeShown ? nil : code?.text()
        if context.output.format == .json {
            var document = JSONDocument()
            document.field("result", .text("joined"))
            document.field("vault", .text(location.name))
            document.field("path", .text(location.path))
            document.field("device", .text(name.text))
            document.field("number", .text(SyncStatus.digits(status.own.device)))
            document.objects("remotes", [exchange]) { one, entry in one.write(to: &entry) }
            switch code {
            case .some(let code): document.secret("recovery_code", code)
            case .none: document.field("recovery_code", .null)
            }
            document.field("shared_recovery", .flag(recovery != nil))
            try context.output.document(document)
        } else {
            context.output.notice(
                "vault \"\(location.name.shown)\" is here as \"\(name.text.shown)\", with \(count.of("item"))")
            switch code {
            case .some(let code): try RecoveryCodeSheet.print(code, context)
            case .none: break
            }
            if let recovery {
                context.output.notice(
                    "the recovery code of \"\(status.name(of: recovery.signer).shown)\", of \(context.output.time(recovery.time)), "
                        + "opens it too")
            }
        }
        if let failure = exchange.failure { throw failure }
    }
}
