#if Server
// Text for people: answers on standard output, and everything else on standard error.

internal import Glibc

enum ServerText {
    static func error(_ text: String) { write(2, text) }
    static func output(_ text: String) { write(1, text) }

    private static func write(_ descriptor: Int32, _ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
#endif
