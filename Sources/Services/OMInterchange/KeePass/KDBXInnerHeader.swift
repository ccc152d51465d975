// The header that KDBX 4 has in front of its XML, behind the cipher: the cipher of protected values, and the attachments.

internal import OMSecrets

struct KDBXInnerHeader {
    let stream: KeyStream?
    /// Without names, in the order of their numbers.
    private(set) var attachments: [ForeignField] = []

    private static let part = "its inner header"

    enum Field: UInt8 {
        case end, streamID, streamKey, attachment
    }

    /// Of a file that has none.
    init(stream: KeyStream?) { self.stream = stream }

    init(reading unpacking: Unpacking, _ limits: KeePassLimits) throws(InterchangeError) {
        var id: UInt32?
        var key: SecretBytes?
        var left = limits.attachmentBytes
        while true {
            let head = try unpacking.exactly(5).withBytes { [UInt8](copying: $0) }
            guard let length = UInt32(littleEndian: Array(head[1...])), length <= Int32.max else { throw .damaged(Self.part) }
            let count = Int(length)
            let field = Field(rawValue: head[0])
            if field == .attachment {
                // One byte of flags in front.
                guard count > 0 else { throw .damaged(Self.part) }
                guard attachments.count < limits.fields else { throw .tooMuch("fields") }
                guard count - 1 <= left else { throw .tooMuch("bytes of attachments") }
                left -= count - 1
            }
            let content = try unpacking.exactly(count)
            switch field {
            case .end:
                let none = SecretBytes(copying: [])
                guard let id else { throw .damaged(Self.part) }
                switch consume key {
                case .some(let key): stream = try KeyStream.ofValues(id, key: key)
                case .none: stream = try KeyStream.ofValues(id, key: none)
                }
                return
            case .streamID:
                guard let number = content.withBytes({ UInt32(littleEndian: [UInt8](copying: $0)) }), id == nil else {
                    throw .damaged(Self.part)
                }
                id = number
            case .streamKey: key = consume content
            case .attachment:
                let bytes = content.withBytes { SecretBytes(copying: $0.extracting(1..<count)) }
                attachments.append(ForeignField("", .attachment, isConcealed: true, bytes))
            case nil: break
            }
        }
    }
}
