internal import OMAgent
internal import OMAuth
internal import OMJSON
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// Where the answer to a request goes: standard output as it comes, a file as a whole, or a JSON document.
struct RestTarget: ~Copyable {
    /// The most bytes of an answer that is held before it is printed.
    private static let longest = 64 << 20

    private let context: CommandContext
    private var file: OutputFile
    private var path: String?
    private let printsHead: Bool
    private let mustBeJSON: Bool
    /// Whether the file takes an answer of any status. Else it takes a status 2xx only.
    private let takesAnyStatus: Bool
    private var terminal = TerminalBytes()

    init(
        _ context: CommandContext, _ file: consuming OutputFile, path: String?, printsHead: Bool, mustBeJSON: Bool,
        takesAnyStatus: Bool
    ) {
        (self.context, self.path, self.printsHead, self.mustBeJSON) = (context, path, printsHead, mustBeJSON)
        self.takesAnyStatus = takesAnyStatus
        self.file = file
    }

    private var isJSON: Bool { context.output.format == .json }

    /// Makes the draft of a file now.
    mutating func prepare() throws(Failure) { if !file.isStandardOutput { try file.prepare() } }

    /// Writes the whole answer.
    consuming func write(_ response: RESTResponse) throws {
        let isGood = (200..<300).contains(response.status)
        // Accident: a page about an error takes the name of the file, and looks like its content.
        if !isGood, !takesAnyStatus, !file.isStandardOutput {
            file = try OutputFile(nil, replacing: false)
            path = nil
        }
        let isHeld = mustBeJSON && isGood || isJSON && file.isStandardOutput
        let held = isHeld ? try Self.whole(response, mustBeJSON: mustBeJSON) : nil
        if mustBeJSON, isGood {
            switch held {
            case .some(let body): try Self.checkJSON(body)
            case .none: break
            }
        }
        guard !isJSON || !file.isStandardOutput else { return try Self.print(response, body: held, context) }
        if printsHead { try put(Self.head(response)) }
        switch held {
        case .some(let body): try put(body)
        case .none: while let piece = try response.nextPieceBlocking() { try put(piece) }
        }
        let last = terminal.end()
        if !last.isEmpty { try file.write(last.span) }
        guard isJSON else { return try file.finish() }
        let (count, path, context) = (file.count, path, context)
        try file.finish()
        try Self.print(response, body: nil, file: path, count: count, context)
    }

    private static func whole(_ response: RESTResponse, mustBeJSON: Bool) throws -> SecretBytes {
        do throws(RESTError) { return try response.wholeBodyBlocking(upTo: longest) } catch {
            guard error == .failed(.failed(.answerTooLarge)) else { throw error }
            throw Failure(
                .remoteError, "the body of the answer is longer than \(longest >> 20) MiB",
                hint: mustBeJSON ? "leave out --json-body" : "-o FILE takes a body of any length")
        }
    }

    private mutating func put(_ bytes: borrowing SecretBytes) throws(Failure) {
        guard file.isStandardOutput, StandardOutput.isTerminal else { return try file.write(bytes) }
        // Attack: a server's answer has escape sequences that type into the user's shell.
        let shown = bytes.withBytes { terminal.shown($0) }
        try file.write(shown.span)
    }

    /// The status line and the headers, as HTTP writes them.
    private static func head(_ response: RESTResponse) -> SecretBytes {
        let lines = ["HTTP/1.1 \(response.status)"] + response.headers.map { "\($0.name): \($0.value)" } + ["", ""]
        return SecretBytes(copying: Array(lines.joined(separator: "\r\n").utf8))
    }

    private static func checkJSON(_ body: borrowing SecretBytes) throws(Failure) {
        let isJSON = body.withBytes { bytes in
            var tokens = JSONTokenizer(0..<bytes.count)
            do throws(MalformedJSON) {
                var count = 0
                while try tokens.token(in: bytes) != nil { count += 1 }
                return count > 0
            } catch { return false }
        }
        guard isJSON else {
            throw Failure(
                .remoteError, "the answer of the server is no JSON", hint: "leave out --json-body to see it")
        }
    }

    /// Prints the answer as a document.
    private static func print(
        _ response: RESTResponse, body: consuming SecretBytes?, file: String? = nil, count: Int? = nil, _ context: CommandContext
    ) throws(Failure) {
        var document = JSONDocument()
        document.field("status", .number(response.status))
        document.field("url", .text(response.address.text))
        document.objects("headers", response.headers) { header, entry in
            entry.field("name", .text(header.name))
            entry.field("value", .text(header.value))
        }
        switch consume body {
        case .some(let body): document.secret("body", body)
        case .none: break
        }
        if let file, let count {
            document.field("file", .text(file))
            document.field("bytes", .number(count))
        }
        try context.output.document(document)
    }
}
