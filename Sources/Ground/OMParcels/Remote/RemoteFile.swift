// The files of a remote, and their names. Format: docs/formats/sync.md, "Remote".

internal import OMRecords
internal import OMSecrets

/// A file in the folder of a remote. Every other name there is ignored.
package enum RemoteFile: Hashable, Sendable {
    /// `remote`: entry 0 of the roll. Without it there is no remote here.
    case founding
    case entry(number: UInt32, digest: [UInt8])
    /// `head`, or the second file `head.1`. The two are written in turn.
    case head(device: UInt32, isSecond: Bool)
    /// A copy of a head that a sync tool made when it found two of them.
    case headCopy(device: UInt32, name: String)
    /// Heads that the device keeps for others.
    case heads(device: UInt32)
    case pack(device: UInt32, number: UInt64)
    /// A message of a pairing: 1 to 4. The mailbox has 16 bytes.
    case message(mailbox: [UInt8], number: UInt8)

    /// The name of the remote's folder. Both have 16 bytes.
    package static func folder(vault: [UInt8], incarnation: [UInt8]) -> String {
        "omvault-sync-\(Hex.encode(vault))-\(Hex.encode(incarnation))"
    }

    /// The path in that folder.
    package var path: String {
        switch self {
        case .founding: "remote"
        case .entry(let number, let digest): "roll/\(Self.digits(number))-\(Hex.encode(digest))"
        case .head(let device, let isSecond): "\(Self.digits(device))/head\(isSecond ? ".1" : "")"
        case .headCopy(let device, let name): "\(Self.digits(device))/\(name)"
        case .heads(let device): "\(Self.digits(device))/heads"
        case .pack(let device, let number): "\(Self.digits(device))/\(Self.digits(number)).pack"
        case .message(let mailbox, let number): "mail/\(Hex.encode(mailbox))-\(number)"
        }
    }

    /// The most bytes that the file can have.
    package var maximumCount: Int {
        switch self {
        case .founding, .entry: RollEntry.maximumCount
        case .head, .headCopy: Head.maximumCount
        case .heads: HeadList.maximumCount
        case .pack: Pack.maximumCount
        // A length of two bytes, padded and sealed.
        case .message: Record.boxOverhead + (1 << 16) + Record.step
        }
    }

    /// - Returns: nil for a name that a remote does not have.
    package init?(path: String) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
        switch parts.count {
        case 1 where path == "remote": self = .founding
        case 2:
            guard let file = Self(in: parts[0], parts[1]) else { return nil }
            self = file
        default: return nil
        }
    }

    private init?(in folder: [UInt8], _ name: [UInt8]) {
        if folder == Array("roll".utf8) {
            guard name.count == 8 + 1 + 64, name[8] == UInt8(ascii: "-"), let number: UInt32 = Self.number(name[..<8]),
                let digest = Self.bytes(name[9...])
            else { return nil }
            self = .entry(number: number, digest: digest)
        } else if folder == Array("mail".utf8) {
            guard name.count == 32 + 2, name[32] == UInt8(ascii: "-"), let mailbox = Self.bytes(name[..<32]),
                (UInt8(ascii: "1")...UInt8(ascii: "4")).contains(name[33])
            else { return nil }
            self = .message(mailbox: mailbox, number: name[33] - UInt8(ascii: "0"))
        } else if folder.count == 8, let device: UInt32 = Self.number(folder[...]), device > 0 {
            self.init(of: device, name)
        } else {
            return nil
        }
    }

    private init?(of device: UInt32, _ name: [UInt8]) {
        let text = String(decoding: name, as: UTF8.self)
        switch text {
        case "head": self = .head(device: device, isSecond: false)
        case "head.1": self = .head(device: device, isSecond: true)
        case "heads": self = .heads(device: device)
        default:
            if text.hasSuffix(".pack"), name.count == 16 + 5, let number: UInt64 = Self.number(name[..<16]), number > 0 {
                self = .pack(device: device, number: number)
            } else if text.hasPrefix("head"), !name.contains(0) {
                self = .headCopy(device: device, name: text)
            } else {
                return nil
            }
        }
    }

    private static func digits<Number: FixedWidthInteger>(_ number: Number) -> String {
        var bytes: [UInt8] = []
        bytes.append(number: number)
        return Hex.encode(bytes)
    }

    private static func number<Number: FixedWidthInteger>(_ digits: ArraySlice<UInt8>) -> Number? {
        bytes(digits).map { $0.reduce(0) { $0 << 8 | Number($1) } }
    }

    /// Lower-case digits only, so that a file has one name.
    private static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        let text = String(decoding: digits, as: UTF8.self)
        guard let bytes = try? Hex.decode(text), Hex.encode(bytes) == text else { return nil }
        return bytes
    }
}
