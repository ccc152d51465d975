// Problems of the rooms below, as errors of a vault.

internal import OMItems
internal import OMSecrets
internal import OMSystem

/// Runs `body`, and turns a ``StorageError`` into an error of this room.
func storing<R: ~Copyable>(_ body: () throws(StorageError) -> R) throws(VaultError) -> R {
    do throws(StorageError) { return try body() } catch { throw VaultError(storage: error) }
}

/// The same for a backup file. A missing or existing backup says nothing about a vault.
func storingBackup<R: ~Copyable>(_ body: () throws(StorageError) -> R) throws(VaultError) -> R {
    do throws(StorageError) { return try body() } catch { throw .storage(error) }
}

/// Runs a stretch whose parameters were checked before.
func stretching<R: ~Copyable>(_ body: () throws(SecretsError) -> R) throws(VaultError) -> R {
    do throws(SecretsError) { return try body() } catch {
        throw error == .lanesUnsupported ? .unsupportedStretch : .outOfMemory
    }
}

/// Runs `body`. Bytes that break their format, or a box that does not open, mean that `part` is corrupt.
func authentic<R: ~Copyable, E: Error>(
    _ part: VaultError.Part, _ body: () throws(E) -> R
) throws(VaultError) -> R {
    do throws(E) { return try body() } catch { throw .corrupt(part) }
}
