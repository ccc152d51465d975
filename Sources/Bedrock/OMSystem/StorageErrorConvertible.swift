/// An error of a room above that carries a ``StorageError``.
public protocol StorageErrorConvertible: Error {
    init(storage error: StorageError)
}

extension StorageErrorConvertible {
    /// Runs `body` and turns its storage errors into this room's.
    package static func storing<R: ~Copyable>(_ body: () throws(StorageError) -> R) throws(Self) -> R {
        do throws(StorageError) { return try body() } catch { throw Self(storage: error) }
    }
}
