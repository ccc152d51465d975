internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// A value that is too large for one answer of the vault, on its way to standard output or into an export.
struct LargeValue {
    let path: FieldPath
    /// The number of bytes.
    let count: Int
    /// The revision of the item. The vault may get newer ones while this one is read.
    let revision: UInt64
    /// The digest of the value. Another item can get the same name and revision.
    let digest: [UInt8]

    /// Prints it chunk by chunk. Only one chunk is in memory at any time.
    ///
    /// - Throws: ``ExitStatus/usage`` for JSON and at a terminal; ``ExitStatus/conflict`` if the version is dropped before
    ///   the end; ``ExitStatus/locked`` if the agent locks the vault before the end. Then the output has only the start of
    ///   the value.
    func print(from access: VaultAccess) throws(Failure) {
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
        for index in 0..<(count + Vault.chunkCount - 1) / Vault.chunkCount {
            let chunk = try self.chunk(index, from: access)
            try StandardOutput.write(chunk)
            bar.add(chunk.count)
        }
    }

    /// All of it, in locked memory.
    func whole(from access: VaultAccess) throws(Failure) -> SecretBytes {
        var value = SecretBuffer(capacity: count)
        for index in 0..<(count + Vault.chunkCount - 1) / Vault.chunkCount {
            value.append(try self.chunk(index, from: access))
        }
        return value.finish()
    }

    private func chunk(_ index: Int, from access: VaultAccess) throws(Failure) -> SecretBytes {
        do throws(Failure) {
            return try access.readMore(.chunk(index, of: path, revision: revision, digest: digest)).secret()
        } catch {
            guard error.status == .notFound || error.status == .conflict else { throw error }
            throw Failure(
                .conflict, "\"\(path.item.text.shown)\" was changed while it was read: the output is not whole",
                hint: "run the command again")
        }
    }
}
