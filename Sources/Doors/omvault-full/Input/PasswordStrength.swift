// How many guesses a password withstands, as libzxcvbn estimates it. KeePassXC shows the same number.

internal import CZxcvbn
internal import OMSecrets

enum PasswordStrength {
    /// Below it a password is easy to guess: about 10^12 guesses. KeePassXC calls such a password poor.
    static let weak = 40

    /// The cost of an estimate grows with the length: 5 ms for so many bytes. The rest of a longer password only adds bits.
    private static let longestPart = 100

    /// The logarithm of the guesses, to the base 2.
    ///
    /// - Parameter words: What an attacker tries first, such as the user's name.
    /// - Returns: Nil for bytes that are no text of C: they are a key, and no password that a person chose.
    static func bits(of password: borrowing SecretBytes, knowing words: borrowing GuessedWords) -> Double? {
        let text = password.withBytes { bytes -> SecretBytes? in
            for index in bytes.indices where bytes[index] == 0 { return nil }
            var text = SecretBuffer(capacity: longestPart + 1)
            text.append(bytes.extracting(0..<min(bytes.count, longestPart)))
            text.append(0)
            return text.finish()
        }
        guard let text else { return nil }
        return text.withBytes { bytes in
            bytes.withUnsafeBufferPointer { buffer in
                let password = UnsafeRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: CChar.self)
                return words.withCWords { ZxcvbnMatch(password, $0, nil) }
            }
        }
    }
}

/// The words that an attacker tries first with a password: from the names of its item and its user.
struct GuessedWords: ~Copyable {
    /// Each word ends with a zero byte. A user's name may be concealed, so they are in locked memory.
    private var text = SecretBuffer(capacity: 256)
    private var starts: [Int] = []

    /// More words cost time, and few people use them.
    private static let most = 32
    private static let lengths = 3...64

    init() {}

    mutating func add(_ text: String) { add(text.utf8Span.span) }

    /// Adds the text, and its parts between other characters than letters and digits.
    mutating func add(_ text: Span<UInt8>) {
        addWord(text)
        var start = 0
        for index in 0...text.count where index == text.count || !Self.isOfWord(text[index]) {
            if index - start < text.count { addWord(text.extracting(start..<index)) }
            start = index + 1
        }
    }

    private mutating func addWord(_ word: Span<UInt8>) {
        guard Self.lengths.contains(word.count), starts.count < Self.most else { return }
        for index in word.indices where word[index] == 0 { return }
        starts.append(text.count)
        text.append(word)
        text.append(0)
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...: true
        default: false
        }
    }

    /// Lends the words as C has them: a list with a null pointer at the end.
    fileprivate borrowing func withCWords<R>(_ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> R) -> R {
        text.withBytes { bytes in
            bytes.withUnsafeBufferPointer { buffer in
                var words = starts.map { start in
                    buffer.baseAddress.map { UnsafeRawPointer($0 + start).assumingMemoryBound(to: CChar.self) }
                }
                words.append(nil)
                return words.withUnsafeMutableBufferPointer { body($0.baseAddress) }
            }
        }
    }
}
