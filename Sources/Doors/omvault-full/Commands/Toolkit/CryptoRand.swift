internal import ArgumentParser
internal import OMSecrets
internal import OMShell

/// `omvault crypto rand`: random bytes from the system's generator.
struct CryptoRand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rand",
        abstract: "Print random bytes.",
        discussion: """
              omvault crypto rand --bytes 16
              omvault crypto rand --bytes 32 --encoding raw > key
            """)

    @OptionGroup var global: GlobalOptions

    @Option(parsing: .unconditional, help: ArgumentHelp("How many bytes.", valueName: "number"))
    var bytes = 32

    @Option(help: ArgumentHelp("raw, hex, base64 or base32.", valueName: "encoding"))
    var encoding = OutputEncoding.hex

    func validate() throws {
        guard (1...1 << 40).contains(bytes) else { throw ValidationError("--bytes takes a number from 1 to 2^40") }
        if global.isJSON, bytes > 1 << 20 { throw ValidationError("--json takes at most 1048576 bytes") }
    }

    func run(_ context: CommandContext) throws {
        if context.output.format == .json {
            var document = JSONDocument()
            let shown: OutputEncoding = encoding == .raw ? .base64 : encoding
            document.secret("bytes_\(shown.rawValue)", shown.encode(.random(bytes)))
            return try context.output.document(document)
        }
        if bytes <= Self.piece { return try context.output.bytes(.random(bytes), as: encoding) }
        guard encoding != .raw || !StandardOutput.isTerminal else {
            throw Failure(.usage, "raw bytes are not printable, and standard output is a terminal", hint: "pipe it")
        }
        var left = bytes
        while left > 0 {
            let count = min(left, Self.piece)
            try StandardOutput.write(encoding.encode(.random(count)))
            left -= count
        }
        if encoding != .raw { try StandardOutput.write("\n") }
    }

    /// A multiple of 15, so that pieces in base64 and base32 have no padding between them.
    private static let piece = 15 << 12
}
