// The plain XML that KeePass 2 and KeePassXC export.

package import OMSecrets

/// Reads an export in XML. It is not encrypted.
package enum KeePassXMLReader {
    package static func read(
        _ file: Span<UInt8>, limits: KeePassLimits = .standard
    ) throws(InterchangeError) -> ForeignContents {
        guard file.count <= limits.unpackedBytes else { throw .tooMuch("bytes of XML") }
        let document = KeePassXML(stream: nil, attachments: [], limits)
        let parsing = XMLParsing(for: document)
        var used = 0
        repeat {
            let end = min(used + pieceCount, file.count)
            try parsing.parse(file.extracting(used..<end), isLast: end == file.count)
            used = end
        } while used < file.count
        return try document.finished()
    }

    private static let pieceCount = 1 << 20
}
