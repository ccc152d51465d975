// A remote of either kind behind its helper.

package import OMParcels

/// The files of a remote, read and written by a confined process.
package enum ConfinedRemote: RemoteStore {
    case folder(ConfinedFolder)
    case server(ConfinedServer)

    package func files() throws(RemoteFailure) -> [RemoteFile] {
        switch self {
        case .folder(let folder): try folder.files()
        case .server(let server): try server.files()
        }
    }

    package func bytes(of file: RemoteFile) throws(RemoteFailure) -> [UInt8]? {
        switch self {
        case .folder(let folder): try folder.bytes(of: file)
        case .server(let server): try server.bytes(of: file)
        }
    }

    package func write(_ bytes: [UInt8], to file: RemoteFile) throws(RemoteFailure) {
        switch self {
        case .folder(let folder): try folder.write(bytes, to: file)
        case .server(let server): try server.write(bytes, to: file)
        }
    }

    @discardableResult
    package func remove(_ file: RemoteFile) throws(RemoteFailure) -> Bool {
        switch self {
        case .folder(let folder): try folder.remove(file)
        case .server(let server): try server.remove(file)
        }
    }

    /// Makes the remote with entry 0 of the roll.
    ///
    /// - Throws: ``RemoteFailure/storage(_:)`` with ``StorageError/exists`` if it is there already.
    package func make(founding: [UInt8]) throws(RemoteFailure) {
        switch self {
        case .folder(let folder): try folder.make(founding: founding)
        case .server(let server): try server.make(founding: founding)
        }
    }
}
