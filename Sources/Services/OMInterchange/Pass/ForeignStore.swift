// The decrypted entries of a store of pass or gopass, in one form for the reader: docs/formats/import-reader.md.

package import OMSecrets

/// The form, while entries are added. The bytes of an entry are copied, and never looked at.
package struct ForeignStore: ~Copyable {
    static let magic = Array("omvpass1".utf8)
    static let (endCode, entryCode): (UInt8, UInt8) = (0, 1)
    /// The most bytes of an entry's name.
    package static let maximumPath = 4096

    private var bytes = SecretBuffer(capacity: 64 << 10)
    package private(set) var count = 0

    package init() { bytes.append(Self.magic.span) }

    /// - Parameters:
    ///   - path: Its folders and its name, with `/` between them, without the file's ending.
    ///   - content: The decrypted file.
    /// - Throws: ``InterchangeError/tooMuch(_:)``.
    package mutating func append(_ path: String, _ content: borrowing SecretBytes) throws(InterchangeError) {
        let name = Array(path.utf8)
        guard name.count <= Self.maximumPath else { throw .tooMuch("bytes of a name") }
        guard count < ForeignReader.maximumEntries else { throw .tooMuch("entries") }
        guard bytes.count + name.count + content.count + 16 <= ForeignReader.maximumCount else {
            throw .tooMuch("bytes of the store")
        }
        count += 1
        bytes.append(Self.entryCode)
        append(number: name.count, bytes: 2)
        bytes.append(name.span)
        append(number: content.count, bytes: 4)
        bytes.append(content)
    }

    package consuming func finish() -> SecretBytes {
        bytes.append(Self.endCode)
        return bytes.finish()
    }

    private mutating func append(number: Int, bytes count: Int) {
        for shift in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }
}
