// Files of the form of ~/.netrc, as ftp, curl and git read them.

internal import OMItems
internal import OMSecrets

enum NetrcReader {
    static func read(
        _ secret: borrowing SecretBytes, _ take: (ForeignEntry) throws(InterchangeError) -> Void
    ) throws(InterchangeError) -> ForeignSummary {
        try secret.withBytes { (bytes: Span<UInt8>) throws(InterchangeError) in try read(bytes, take) }
    }

    private static func read(
        _ bytes: Span<UInt8>, _ take: (ForeignEntry) throws(InterchangeError) -> Void
    ) throws(InterchangeError) -> ForeignSummary {
        try ForeignText.checkUTF8(bytes)
        var words = NetrcWords(in: bytes)
        var (entry, count, macros): (ForeignEntry?, Int, Int) = (nil, 0, 0)
        func finish() throws(InterchangeError) {
            guard let done = entry else { return }
            count += 1
            guard count <= ForeignReader.maximumEntries else { throw .tooMuch("entries") }
            try take(done)
        }
        while let word = try words.next(in: bytes) {
            switch ForeignText.string(word) {
            case "machine":
                try finish()
                entry = ForeignEntry(title: ForeignText.string(try words.argument(of: "machine", in: bytes)))
                entry?.type = .login
            case "default":
                try finish()
                entry = ForeignEntry(title: "default")
                entry?.type = .login
            case "login", "user":
                entry?.fields.append(
                    ForeignField("", .username, isConcealed: false, try words.argument(of: "login", in: bytes)))
            case "password", "passwd":
                entry?.fields.append(
                    ForeignField("", .password, isConcealed: true, try words.argument(of: "password", in: bytes)))
            case "account":
                entry?.fields.append(
                    ForeignField("account", .other, isConcealed: true, try words.argument(of: "account", in: bytes)))
            case "port":
                entry?.fields.append(
                    ForeignField("port", .other, isConcealed: false, try words.argument(of: "port", in: bytes)))
            case "macdef":
                macros += 1
                words.skipMacro(in: bytes)
            // Attack, or accident: a password is in the place of a keyword, and the message shows it.
            default: throw .damaged("line \(words.line) has a word that is no keyword")
            }
            guard entry != nil || macros > 0 else { throw .otherFormat }
        }
        try finish()
        return ForeignSummary(losses: macros > 0 ? [.member("macdef")] : [])
    }
}

/// The words of such a file. It holds no bytes.
private struct NetrcWords {
    private var place: Int
    private(set) var line = 1

    init(in bytes: Span<UInt8>) { place = ForeignText.markCount(bytes) }

    /// The next word, without comments. Nil at the end.
    mutating func next(in bytes: Span<UInt8>) throws(InterchangeError) -> SecretBytes? {
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "#") {
                while place < bytes.count, bytes[place] != UInt8(ascii: "\n") { place += 1 }
            } else if JSONSpace.isSpace(bytes[place]) {
                step(in: bytes)
            } else {
                return try word(in: bytes)
            }
        }
        return nil
    }

    /// The word behind a keyword. It can begin with `#`.
    mutating func argument(of keyword: String, in bytes: Span<UInt8>) throws(InterchangeError) -> SecretBytes {
        while place < bytes.count, JSONSpace.isSpace(bytes[place]) { step(in: bytes) }
        guard place < bytes.count else { throw .damaged("the file ends behind \(keyword)") }
        return try word(in: bytes)
    }

    /// A macro ends with a line that has only blanks. A `\r` before the line's end is one.
    mutating func skipMacro(in bytes: Span<UInt8>) {
        var isEmpty = false
        while place < bytes.count {
            let byte = bytes[place]
            step(in: bytes)
            if byte == UInt8(ascii: "\n") {
                guard !isEmpty else { return }
                isEmpty = true
            } else if !JSONSpace.isSpace(byte) {
                isEmpty = false
            }
        }
    }

    private mutating func step(in bytes: Span<UInt8>) {
        if bytes[place] == UInt8(ascii: "\n") { line += 1 }
        place += 1
    }

    /// A word, or text in double quotes, as curl reads it.
    private mutating func word(in bytes: Span<UInt8>) throws(InterchangeError) -> SecretBytes {
        var word = SecretBuffer()
        let isQuoted = bytes[place] == UInt8(ascii: "\"")
        if isQuoted { place += 1 }
        while place < bytes.count {
            let byte = bytes[place]
            if isQuoted ? byte == UInt8(ascii: "\"") : JSONSpace.isSpace(byte) { break }
            if isQuoted, byte == UInt8(ascii: "\\"), place + 1 < bytes.count {
                place += 1
                switch bytes[place] {
                case UInt8(ascii: "n"): word.append(10)
                case UInt8(ascii: "r"): word.append(13)
                case UInt8(ascii: "t"): word.append(9)
                case let escaped: word.append(escaped)
                }
            } else {
                word.append(byte)
            }
            step(in: bytes)
        }
        if isQuoted {
            guard place < bytes.count else { throw .damaged("line \(line) has a quote without an end") }
            place += 1
        }
        return word.finish()
    }
}
