// Lines of the Assuan protocol, in which GnuPG's programs talk to a pinentry.

internal import Glibc
internal import OMSecrets
internal import OMShell

/// One line, without its newline. A password can be in it, so it is in locked memory.
struct AssuanLine: ~Copyable {
    private let bytes: SecretBytes

    /// The most bytes of a line: 1000, and its newline.
    static let longest = 1001

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    /// - Parameter text: Not secret. Its line breaks are encoded.
    init(_ command: String, _ text: String = "") {
        let start = text.isEmpty ? command : command + " "
        let encoded = text.utf8.flatMap { AssuanText.encoded($0) }
        bytes = SecretBytes(copying: Array(start.utf8) + AssuanText.cut(encoded, to: Self.longest - 1 - start.utf8.count))
    }

    /// The word in front.
    var word: String {
        bytes.withBytes { bytes in
            let end = bytes.indices.first { bytes[$0] == UInt8(ascii: " ") } ?? bytes.count
            return String(decoding: bytes.indices.prefix(min(end, 64)).map { bytes[$0] }, as: UTF8.self)
        }
    }

    /// What is behind the word, decoded. Only for lines that have no secret.
    var text: String {
        var decoded = SecretBuffer(capacity: Self.longest)
        appendText(to: &decoded)
        return decoded.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }

    /// Appends what is behind the word, decoded in place.
    func appendText(to target: inout SecretBuffer) {
        bytes.withBytes { bytes in
            guard let end = bytes.indices.first(where: { bytes[$0] == UInt8(ascii: " ") }) else { return }
            var index = end + 1
            while index < bytes.count {
                if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                    let high = AssuanText.digit(bytes[index + 1]), let low = AssuanText.digit(bytes[index + 2])
                {
                    target.append(high << 4 | low)
                    index += 3
                } else {
                    target.append(bytes[index])
                    index += 1
                }
            }
        }
    }

    /// Whether it is empty or a comment. These get no answer.
    var isUnanswered: Bool { word.isEmpty || word.hasPrefix("#") }

    /// Whether the answer to a command ends with this line.
    var endsAnswer: Bool { ["OK", "ERR"].contains(word) }

    /// - Returns: false if the other end has gone.
    func write(to descriptor: Int32) -> Bool {
        var whole = SecretBuffer(capacity: bytes.count + 1)
        whole.append(bytes)
        whole.append(UInt8(ascii: "\n"))
        return whole.withBytes { writeAll($0, to: descriptor) == nil }
    }

    func duplicate() -> AssuanLine { AssuanLine(bytes.duplicate()) }

    /// Reads the next line. It reads byte by byte, so nothing of a later line stays in this process.
    ///
    /// - Parameter isReady: Called before each byte. It can wait for one.
    /// - Returns: Nil at the end, for a line that is too long, and if it is not ready.
    static func read(from descriptor: Int32, isReady: () -> Bool = { true }) -> AssuanLine? {
        var line = SecretBuffer(capacity: longest)
        while line.count < longest {
            guard isReady() else { return nil }
            var count = 0
            line.append(upTo: 1) { free in
                count = free.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, 1) }
                return max(count, 0)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            guard line.withBytes({ $0[$0.count - 1] == UInt8(ascii: "\n") }) else { continue }
            line.removeLast()
            return AssuanLine(line.finish())
        }
        return nil
    }
}

/// How Assuan writes bytes in a line.
enum AssuanText {
    /// libgpg-error's codes of the source "pinentry".
    static let canceled = 83_886_179
    static let unknown = 83_886_355

    static func encoded(_ byte: UInt8) -> [UInt8] {
        guard [UInt8(ascii: "%"), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(byte) else { return [byte] }
        return Array((byte == UInt8(ascii: "%") ? "%25" : byte == UInt8(ascii: "\n") ? "%0A" : "%0D").utf8)
    }

    /// At most `count` bytes, without a broken `%`.
    static func cut(_ bytes: [UInt8], to count: Int) -> [UInt8] {
        guard bytes.count > count else { return bytes }
        let cut = bytes.prefix(count)
        let end = cut.suffix(2).firstIndex(of: UInt8(ascii: "%")) ?? cut.endIndex
        return Array(cut[..<end])
    }

    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - 0x30
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - 0x41 + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - 0x61 + 10
        default: nil
        }
    }

    /// The lines `D …` of a secret, each as long as a line may be.
    static func dataLines(_ secret: borrowing SecretBytes, _ body: (borrowing AssuanLine) -> Bool) -> Bool {
        secret.withBytes { bytes in
            var line = SecretBuffer(capacity: AssuanLine.longest)
            for index in bytes.indices {
                if line.count == 0 { for byte in "D ".utf8 { line.append(byte) } }
                for byte in encoded(bytes[index]) { line.append(byte) }
                guard line.count > AssuanLine.longest - 5 || index == bytes.count - 1 else { continue }
                guard body(AssuanLine(line.withBytes { SecretBytes(copying: $0) })) else { return false }
                line.removeAll()
            }
            return true
        }
    }
}
