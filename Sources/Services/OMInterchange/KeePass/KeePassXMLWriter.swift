// KeePass's XML of a plan.

internal import OMItems
internal import OMSecrets

/// Writes the XML piece by piece.
final class KeePassXMLWriter {
    private let stream: KeyStream
    private let file: KDBXPayload
    private let now: Int64
    private var text = SecretBuffer(capacity: 1 << 17)
    /// Bytes that may still be written.
    private var left: Int

    private static let pieceCount = 1 << 16

    /// - Parameter most: The most bytes of XML.
    init(_ stream: KeyStream, to file: KDBXPayload, now: Int64, atMost most: Int) {
        (self.stream, self.file, self.now, left) = (stream, file, now, most)
    }

    /// - Throws: ``InterchangeError/tooMuch(_:)``.

    func write(_ plan: KeePassPlan) throws(InterchangeError) {
        let bin = newID()
        add(#"<?xml version="1.0" encoding="utf-8" standalone="yes"?><KeePassFile><Meta><Generator>omvault</Generator>"#)
        add("<MemoryProtection><ProtectTitle>False</ProtectTitle><ProtectUserName>False</ProtectUserName>")
        add("<ProtectPassword>True</ProtectPassword><ProtectURL>False</ProtectURL><ProtectNotes>False</ProtectNotes>")
        add("</MemoryProtection><RecycleBinEnabled>True</RecycleBinEnabled>")
        if plan.trash != nil { element("RecycleBinUUID", bin) }
        add("</Meta><Root>")
        try write(plan.root, id: newID()) { () throws(InterchangeError) in
            if let trash = plan.trash { try self.write(trash, id: bin) {} }
        }
        add("</Root></KeePassFile>")
        try flush(beyond: 0)
    }

    private func write(
        _ group: KeePassPlan.Group, id: String, _ last: () throws(InterchangeError) -> Void
    ) throws(InterchangeError) {
        add("<Group>")
        element("UUID", id)
        element("Name", group.name)
        times(now, now, nil)
        for entry in group.entries { try write(entry) }
        for group in group.groups { try write(group, id: newID()) {} }
        try last()
        add("</Group>")
    }

    private func write(_ entry: KeePassPlan.Entry) throws(InterchangeError) {
        add("<Entry>")
        element("UUID", newID())
        add("<IconID>0</IconID>")
        element("Tags", entry.tags.joined(separator: ";"))
        times(entry.entry.created ?? now, entry.entry.modified ?? now, entry.entry.expires)
        value("Title", SecretBytes(copying: Array(entry.entry.title.utf8)), isProtected: entry.isTitleProtected)
        for text in entry.texts {
            value(text.name, text.field.value, isProtected: text.isProtected)
            try flush(beyond: Self.pieceCount)
        }
        for (name, number) in entry.attachments {
            add("<Binary>")
            element("Key", name)
            add("<Value Ref=\"\(number)\"/></Binary>")
        }
        if let type = entry.entry.type {
            add("<CustomData><Item>")
            element("Key", KeePassEntry.typeKey)
            element("Value", type.rawValue)
            add("</Item></CustomData>")
        }
        add("</Entry>")
    }

    private func value(_ name: String, _ value: borrowing SecretBytes, isProtected: Bool) {
        add("<String>")
        element("Key", name)
        if isProtected {
            add("<Value Protected=\"True\">")
            text.append(Base64.encode(value.withBytes { stream.apply($0) }))
        } else {
            add("<Value>")
            value.withBytes { escape($0) }
        }
        add("</Value></String>")
    }

    private func times(_ created: Int64, _ modified: Int64, _ expires: Int64?) {
        add("<Times>")
        element("CreationTime", KeePassTime.text(created))
        element("LastModificationTime", KeePassTime.text(modified))
        element("LastAccessTime", KeePassTime.text(modified))
        element("ExpiryTime", KeePassTime.text(expires ?? now))
        add(expires == nil ? "<Expires>False</Expires>" : "<Expires>True</Expires>")
        add("<UsageCount>0</UsageCount>")
        element("LocationChanged", KeePassTime.text(modified))
        add("</Times>")
    }

    private func newID() -> String { Base64.encode(Random.bytes(16)) }

    private func flush(beyond count: Int) throws(InterchangeError) {
        guard text.count > count else { return }
        guard text.count <= left else { throw .tooMuch("bytes of XML") }
        left -= text.count
        try text.withBytes { (bytes: Span<UInt8>) throws(InterchangeError) in try file.append(bytes) }
        text.removeAll()
    }

    private func add(_ markup: String) {
        var markup = markup
        markup.withUTF8 { text.append($0.span) }
    }

    private func element(_ name: String, _ content: String) {
        var content = content
        add("<\(name)>")
        content.withUTF8 { escape($0.span) }
        add("</\(name)>")
    }

    /// The text with entities for the characters of markup. The plan has seen that XML can have all others.
    private func escape(_ content: Span<UInt8>) {
        var start = 0
        content.withPointer { bytes, count in
            for index in 0..<count {
                let entity: String
                switch bytes[index] {
                case UInt8(ascii: "&"): entity = "&amp;"
                case UInt8(ascii: "<"): entity = "&lt;"
                case UInt8(ascii: ">"): entity = "&gt;"
                default: continue
                }
                text.append(content.extracting(start..<index))
                add(entity)
                start = index + 1
            }
        }
        text.append(content.extracting(start..<content.count))
    }
}
