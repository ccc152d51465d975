internal import ArgumentParser
internal import Glibc
internal import OMAgent
internal import OMSecrets
internal import OMShell

/// The value of `-d`: `-`, or a source of a secret.
struct RestDataArgument: ExpressibleByArgument, Sendable {
    static var defaultCompletionKind: CompletionKind { .list(["-"] + SecretSourceArgument.beginnings) }

    let source: SecretSourceArgument

    init(argument: String) { source = SecretSourceArgument(argument: argument == "-" ? "stdin" : argument) }
}

/// The body of a request: a source, or the fields of a form.
struct RestBodySource {
    private static let option = "--data"
    /// The most bytes of a body that is read before it is sent.
    private static let longest = 64 << 20

    private let data: RestDataArgument?
    private let fields: [String]
    private let context: CommandContext

    init(_ data: RestDataArgument?, _ fields: [String], _ context: CommandContext) {
        (self.data, self.fields, self.context) = (data, fields, context)
    }

    func body() throws(Failure) -> RESTBody {
        guard let data else { return fields.isEmpty ? .none : RESTBody(try form()) }
        guard fields.isEmpty else { throw Failure(usage: "-d and --field contradict each other") }
        switch data.source.source {
        case .file(let path): return try Self.stream(path)
        case .descriptor(let number):
            if number == STDIN_FILENO { try StandardInput.claim() }
            return Self.stream(number)
        // A source that is none is refused there, without repeating it.
        default:
            let secrets = try SecretSources(context, [Self.option: data.source])
            return RESTBody(
                try secrets.read(
                    Self.option, prompt: "Body", isShown: true, canBeEmpty: true, keepNewline: true, maximum: Self.longest))
        }
    }

    private static func stream(_ path: String) throws(Failure) -> RESTBody {
        let file = OpenedFile(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY))
        guard file.descriptor >= 0 else { throw Failure(.io, "cannot open \"\(path)\"", errno: errno) }
        var status = stat()
        let isRegular = fstat(file.descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let count = isRegular ? UInt64(status.st_size) : nil
        return RESTBody(count: count, canBeSentAgain: isRegular) { () throws(RESTError) in
            if isRegular, lseek(file.descriptor, 0, SEEK_SET) != 0 { throw .body(errno) }
            let left = BytesLeft(count)
            // Accident: another program makes the file longer or shorter. So exactly the first bytes go.
            return { (most) throws(RESTError) in
                let piece = try read(file.descriptor, left.bounded(most))
                guard left.take(piece.count) else { throw .body(EIO) }
                return piece
            }
        }
    }

    private static func stream(_ descriptor: Int32) -> RESTBody {
        RESTBody(count: nil, canBeSentAgain: false) { () throws(RESTError) in
            { (most) throws(RESTError) in try read(descriptor, most) }
        }
    }

    private static func read(_ descriptor: Int32, _ most: Int) throws(RESTError) -> SecretBytes {
        guard most > 0 else { return SecretBytes(copying: []) }
        var buffer = SecretBuffer(capacity: min(most, 256 << 10))
        while true {
            var got = 0
            buffer.append(upTo: min(most, 256 << 10)) { free in
                got = free.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
                return max(got, 0)
            }
            if got >= 0 { return buffer.finish() }
            let code = errno
            guard code == EINTR || code == EAGAIN else { throw .body(code) }
            if code == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&waiting, 1, -1)
            }
        }
    }

    /// The fields as application/x-www-form-urlencoded.
    private func form() throws(Failure) -> SecretBytes {
        var form = SecretBuffer()
        for field in fields {
            guard let equals = field.firstIndex(of: "="), equals != field.startIndex else {
                throw Failure(usage: "--field is not NAME=TEXT")
            }
            if form.count > 0 { form.append(UInt8(ascii: "&")) }
            Self.append(field[..<equals], to: &form)
            form.append(UInt8(ascii: "="))
            Self.append(field[field.index(after: equals)...], to: &form)
        }
        return form.finish()
    }

    private static func append(_ text: Substring, to form: inout SecretBuffer) {
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                form.append(byte)
            case _ where "-._*".utf8.contains(byte): form.append(byte)
            case UInt8(ascii: " "): form.append(UInt8(ascii: "+"))
            default:
                form.append(UInt8(ascii: "%"))
                form.append(digits[Int(byte >> 4)])
                form.append(digits[Int(byte & 15)])
            }
        }
    }
}

/// Closed with this object.
private final class OpenedFile: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
