// What the process that reads a foreign file answers, but for its entries. Format: docs/formats/import-reader.md.

internal import OMInterchange
internal import OMRecords

enum ImportReply: Hashable {
    /// The format, and whether a password or a key file opens the file.
    case recognised(ForeignFormat, needsKey: Bool)
    /// The end of the entries: their number, and what the file has beside them.
    case end(entries: UInt32, losses: [ForeignLoss], map: CSVMap?)
    case failed(InterchangeError)

    /// The first bytes of the messages of entries.
    static let (entryCode, moreCode): (UInt8, UInt8) = (4, 5)
    static let maximumCount = 512 << 10
    static let maximumLosses = 1024
    /// The most bytes of the texts of all losses.
    static let maximumLossText = 64 << 10
    /// The most bytes of a name, a title or a tag.
    static let maximumText = 4096

    var encoded: [UInt8] {
        switch self {
        case .recognised(let format, let needsKey): return [1, format.rawValue, needsKey ? 1 : 0]
        case .end(let entries, let losses, let map):
            var message: [UInt8] = [2]
            message.append(number: entries)
            message.append(losses: losses)
            return message + (map.map { Array($0.text.utf8) } ?? [])
        case .failed(let error):
            let (code, words, remedy) = error.parts
            var message: [UInt8] = [3, code]
            message.append(text: words)
            message.append(text: remedy)
            return message
        }
    }

    /// Attack: an attacker has taken over the process, which then answers with anything.
    init(decoding message: Span<UInt8>) throws(MalformedBytes) {
        var cursor = ByteCursor()
        switch try cursor.number(UInt8.self, in: message) {
        case 1:
            let format = ForeignFormat(rawValue: try cursor.number(UInt8.self, in: message))
            let flag = try cursor.number(UInt8.self, in: message)
            guard let format, flag <= 1 else { throw MalformedBytes() }
            self = .recognised(format, needsKey: flag == 1)
        case 2:
            let entries = try cursor.number(UInt32.self, in: message)
            let losses = try cursor.losses(in: message)
            guard cursor.offset < message.count else {
                self = .end(entries: entries, losses: losses, map: nil)
                return
            }
            let text = message.extracting(cursor.offset..<message.count)
            guard let map = CSVMap(parsing: text) else { throw MalformedBytes() }
            self = .end(entries: entries, losses: losses, map: map)
            return
        case 3:
            let code = try cursor.number(UInt8.self, in: message)
            let words = try cursor.shortText(in: message), remedy = try cursor.shortText(in: message)
            guard let error = InterchangeError(code, words, remedy: remedy) else { throw MalformedBytes() }
            self = .failed(error)
        default: throw MalformedBytes()
        }
        try cursor.end(in: message)
    }
}

extension InterchangeError {
    fileprivate var parts: (code: UInt8, words: String, remedy: String) {
        switch self {
        case .otherFormat: (1, "", "")
        case .unsupported(let words, let remedy): (2, words, remedy)
        case .wrongKey: (3, "", "")
        case .needsPassword: (4, "", "")
        case .damagedKeyFile: (5, "", "")
        case .damaged(let words): (6, words, "")
        case .tooMuch(let words): (7, words, "")
        case .otherMap(let words): (8, words, "")
        }
    }

    fileprivate init?(_ code: UInt8, _ words: String, remedy: String) {
        switch code {
        case 1: self = .otherFormat
        case 2: self = .unsupported(words, remedy: remedy)
        case 3: self = .wrongKey
        case 4: self = .needsPassword
        case 5: self = .damagedKeyFile
        case 6: self = .damaged(words)
        case 7: self = .tooMuch(words)
        case 8: self = .otherMap(words)
        default: return nil
        }
    }
}

extension ForeignLoss {
    fileprivate var parts: (code: UInt8, text: String) {
        switch self {
        case .olderVersions(let count): (1, "\(count)")
        case .icon: (2, "")
        case .autoType: (3, "")
        case .member(let name): (4, name)
        case .attachment(let name): (5, name)
        case .time(let name): (6, name)
        case .unneeded(let name): (7, name)
        case .more(let count): (8, "\(count)")
        }
    }

    fileprivate init?(_ code: UInt8, _ text: String) {
        switch code {
        case 1, 8:
            guard let count = Int(text), count > 0 else { return nil }
            self = code == 1 ? .olderVersions(count) : .more(count)
        case 2: self = .icon
        case 3: self = .autoType
        case 4: self = .member(text)
        case 5: self = .attachment(text)
        case 6: self = .time(text)
        case 7: self = .unneeded(text)
        default: return nil
        }
    }
}

extension [ForeignLoss] {
    /// The first losses. If some are left out, the last loss says how many.
    fileprivate var bounded: [ForeignLoss] {
        // Room for the last one's number.
        var room = ImportReply.maximumLossText - 20
        let fitting = prefix { loss in
            room -= Swift.min(loss.parts.text.utf8.count, ImportReply.maximumText)
            return room >= 0
        }
        guard fitting.count < count || count > ImportReply.maximumLosses else { return self }
        let some = fitting.prefix(ImportReply.maximumLosses - 1)
        return some + [.more(count - some.count)]
    }
}

extension [UInt8] {
    /// A text of at most ``ImportReply/maximumText`` bytes. A longer one is cut.
    mutating func append(text: String) {
        var bytes = Array(text.utf8.prefix(ImportReply.maximumText))
        // Not half a character.
        if bytes.count < text.utf8.count { while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() } }
        if bytes.count < text.utf8.count, !bytes.isEmpty { bytes.removeLast() }
        append(number: UInt16(bytes.count))
        self += bytes
    }

    /// As many as the bounds allow. The last one says how many are left out.
    mutating func append(losses: [ForeignLoss]) {
        let bounded = losses.bounded
        append(number: UInt16(bounded.count))
        for loss in bounded {
            append(loss.parts.code)
            append(text: loss.parts.text)
        }
    }
}

extension ByteCursor {
    mutating func shortText(in bytes: Span<UInt8>) throws(MalformedBytes) -> String {
        let count = Int(try number(UInt16.self, in: bytes))
        guard count <= ImportReply.maximumText else { throw MalformedBytes() }
        return try text(count, in: bytes)
    }

    mutating func losses(in bytes: Span<UInt8>) throws(MalformedBytes) -> [ForeignLoss] {
        let count = Int(try number(UInt16.self, in: bytes))
        guard count <= ImportReply.maximumLosses else { throw MalformedBytes() }
        var (losses, total): ([ForeignLoss], Int) = ([], 0)
        for _ in 0..<count {
            let code = try number(UInt8.self, in: bytes)
            let text = try shortText(in: bytes)
            total += text.utf8.count
            guard let loss = ForeignLoss(code, text), total <= ImportReply.maximumLossText else { throw MalformedBytes() }
            losses.append(loss)
        }
        return losses
    }
}
