internal import Glibc
internal import OMRecords
package import OMSecrets
package import OMSystem

/// A value that ``ValueSpool`` took in.
public final class SpooledValue: Sendable {
    /// The bytes of a value's digest.
    package static let digestCount = 32

    /// The number of bytes.
    public let count: Int
    /// The digest of the value, as the process that took it in computed it.
    package let digest: [UInt8]
    private let file: UnnamedFile
    private let key: Key<Sealing>

    init(_ file: consuming UnnamedFile, _ key: consuming Key<Sealing>, count: Int, digest: [UInt8]) {
        (self.count, self.digest) = (count, digest)
        self.file = file
        self.key = key
    }

    /// A value that another process took in.
    package convenience init(
        received file: consuming UnnamedFile, _ key: consuming Key<Sealing>, count: Int, digest: [UInt8]
    ) {
        self.init(file, key, count: count, digest: digest)
    }

    /// The file, to send it to another process. It can read the value only with the key.
    package var descriptor: Int32 { file.descriptor }

    package func withKey<R>(_ body: (borrowing Key<Sealing>) -> R) -> R { body(key) }

    /// How many bytes of it a change has read so far, in this process or in the agent.
    package var readCount: Int { min(file.position / Self.sealedCount * ValueChunk.valueCount, count) }

    /// The bytes of the value that its chunk `index` gets.
    package func chunk(_ index: Int) throws(VaultError) -> SecretBytes {
        let count = min(ValueChunk.valueCount, self.count - index * ValueChunk.valueCount)
        let box = try VaultError.storing { () throws(StorageError) in
            try file.read(SealedBox.overhead + count, at: index * Self.sealedCount)
        }
        // The process that waits for the change can see how far it is.
        file.move(to: (index + 1) * Self.sealedCount)
        do throws(SecretsError) {
            return try AEAD.open(SealedBox(stored: box), using: key, context: Self.context(index))
        } catch {
            // The disk gave other bytes than were written.
            throw .storage(.io(EBADMSG))
        }
    }

    /// The bytes of a full chunk in the file.
    static let sealedCount = SealedBox.overhead + ValueChunk.valueCount

    static func context(_ index: Int) -> Context { Context(.spooledChunk, .number(UInt64(index))) }
}
