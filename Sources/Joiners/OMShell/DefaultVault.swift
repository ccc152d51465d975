// The vault that a command without `--vault` means, as `omvault vault default` keeps it.

internal import Glibc
internal import OMSystem

/// The file `default-vault` in the configuration folder. It holds one vault's name and a newline.
package struct DefaultVault {
    /// The default of a user who has chosen none.
    package static let builtIn = "personal"
    private static let longest = 256

    private let folder: String

    /// The folder's links are resolved: the user may keep it elsewhere. The real folder is checked.
    package init(_ folders: UserFolders) { folder = AbsolutePath.resolved(folders.configuration) }

    package var path: String { "\(folder)/default-vault" }

    /// The default vault's name.
    ///
    /// - Throws: ``ExitStatus/permission`` if another user could have changed the file, ``ExitStatus/corrupt`` if it holds
    ///   anything but one name.
    package func name() throws(Failure) -> String { try chosen() ?? Self.builtIn }

    /// The name that the user chose. Nil if the user has chosen none.
    package func chosen() throws(Failure) -> String? {
        let bytes: [UInt8]?
        do throws(StorageError) { bytes = try read() } catch {
            if error == .corrupt { throw damaged }
            let failure = Failure(error)
            throw failure.with(hints: failure.hints + [Self.otherWay])
        }
        guard let bytes else { return nil }
        // Attack, or a torn copy: half a name, or a second one, could be the name of another vault. New secrets would go there.
        guard bytes.last == UInt8(ascii: "\n"), let name = String(validating: bytes.dropLast(), as: UTF8.self),
            VaultLocation.isName(name)
        else { throw damaged }
        return name
    }

    /// Keeps `name` as the default. A damaged file is replaced.
    package func choose(_ name: String) throws(Failure) {
        do throws(StorageError) {
            do throws(StorageError) { _ = try read() } catch {
                guard error == .corrupt else { throw error }
            }
            try makeFolder()
            var draft = try Draft.make(for: path, .replacing)
            try draft.write(Array("\(name)\n".utf8).span)
            try draft.finish()
        } catch { throw Failure(error) }
    }

    /// Attack: another user writes the file, or deletes it from a folder that others can write to. Then commands would mean
    /// another vault. So file and folder must belong to this user, and no other user may write to them.
    private func read() throws(StorageError) -> [UInt8]? {
        try TrustedFile.read(path, owner: geteuid(), limit: Self.longest)
    }

    private func makeFolder() throws(StorageError) {
        guard try !FilePath.exists(folder) else { return }
        do throws(StorageError) { _ = try PrivateFolder.make(folder) } catch {
            // No lock and no counter is kept here, so a network file system is good enough.
            guard case .hazardous(.onNetwork, _) = error else { throw error }
        }
    }

    private var damaged: Failure {
        Failure(
            .corrupt, "\(path.shown) does not hold the name of one vault",
            hint: "omvault vault default NAME writes it again", Self.otherWay)
    }

    private static let otherWay = "with --vault NAME a command does not read this file"
}
