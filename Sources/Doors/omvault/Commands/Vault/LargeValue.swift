internal import OMSecrets
internal import OMVault

/// A value that is too large for one piece of memory, on its way to standard output.
struct LargeValue {
    let path: FieldPath
    /// The number of bytes.
    let count: Int
    /// The revision of the item. The vault may get newer ones while this one is read.
    let revision: UInt64
    /// The digest of the value. Another item can get the same name and revision.
    let digest: [UInt8]

    /// Prints it piece by piece. Only one piece is in memory at any time.
    ///
    /// - Throws: ``ExitStatus/usage`` for JSON and at a terminal; ``ExitStatus/conflict`` if the version is dropped before
    ///   the end. Then the output has only the start of the value.
    func print(
        from access: VaultAccess, _ secrets: borrowing SecretSources, _ options: UnlockOptions
    ) throws(Failure) {
        let output = access.context.output
        let words = "omvault get \(path.item.shellReference(to: path.field.text))"
        guard output.format != .json else {
            throw Failure(
                .usage, "the value has \(count) bytes; JSON shows values of at most 1 MiB", hint: "\(words) > FILE")
        }
        guard !StandardOutput.isTerminal else {
            throw Failure(.usage, "the value has \(count) bytes, and standard output is a terminal", hint: "\(words) > FILE")
        }
        let bar = Progress(total: count, access.context)
        defer { bar.end() }
        for index in 0..<(count + Vault.pieceCount - 1) / Vault.pieceCount {
            let piece = try self.piece(index, from: access, secrets, options)
            try StandardOutput.write(piece)
            bar.add(piece.count)
        }
    }

    private func piece(
        _ index: Int, from access: VaultAccess, _ secrets: borrowing SecretSources, _ options: UnlockOptions
    ) throws(Failure) -> SecretBytes {
        do throws(Failure) {
            return try access.readMore(.piece(index, of: path, revision: revision, digest: digest), secrets, options).secret()
        } catch {
            guard error.status == .notFound || error.status == .conflict else { throw error }
            throw Failure(
                .conflict, "\"\(path.item.text.shown)\" was changed while it was read: the output is not whole",
                hint: "run the command again")
        }
    }
}
