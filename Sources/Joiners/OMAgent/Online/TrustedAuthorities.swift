// The file that `TrustedCA` names.

internal import Glibc
package import OMSystem

package enum TrustedAuthorities {
    /// Reads the file. It need not hold a certificate.
    ///
    /// Attack: a user who can change the file decides which servers are trusted. So the file and its folder must belong
    /// to this user or to root. No other user may be able to write to them.
    ///
    /// - Throws: ``StorageError/missing``, ``StorageError/hazardous(_:path:)``; ``StorageError/corrupt`` for more than 1 MiB.
    package static func read(_ path: String) throws(StorageError) -> [UInt8] {
        guard let resolved = realpath(path, nil) else { throw .missing }
        defer { free(resolved) }
        var failure = StorageError.missing
        for owner in Set([0, geteuid()]) {
            do throws(StorageError) {
                let pem = try TrustedFile.read(
                    String(cString: resolved), owner: owner, limit: OnlineQuestion.maximumTrustedBytes)
                if let pem { return pem }
            } catch { failure = error }
        }
        throw failure
    }
}
