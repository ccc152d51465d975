internal import ArgumentParser
internal import Glibc
internal import OMSecrets
internal import OMShell

/// `omvault inject`: a template with the values of its references.
struct InjectCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "inject",
        abstract: "Fill a template with secrets.",
        discussion: """
            A reference in the template is {{ om://VAULT/ITEM/FIELD }} on one line. All other text stays as it is, also another
            {{ … }}, and nothing in it is run. All values are read before the first byte is written.

              omvault inject -i config.tpl -o config.json
              omvault inject -i config.tpl -o config.json --mode 0640 --force

            The file has mode 0600 unless you give --mode. It is on the disk in clear, so remove it when it is no longer needed. A
            program that reads its configuration from standard input needs no file.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(
        name: .customShort("i"), help: ArgumentHelp("The template; - or nothing: standard input.", valueName: "file"),
        completion: .file())
    var input: String?

    @Option(
        name: .customShort("o"), help: ArgumentHelp("Where to write; - or nothing: standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(help: ArgumentHelp("The mode of the file, whatever the umask is.", valueName: "octal"))
    var mode: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    @Flag(help: "Leave nothing in place of an item or a field that is missing, and warn.")
    var allowMissing = false

    @Flag(help: "Fail if a conflict copy of an item has another value.")
    var strict = false

    @Flag(help: "Print at a terminal too.")
    var reveal = false

    func run(_ context: CommandContext) throws {
        let mode = try mode.map(Self.mode)
        var target = try OutputFile(output, replacing: force, mode: mode)
        guard mode == nil || !target.isStandardOutput else { throw Failure(usage: "--mode is for the file of -o") }
        let reading = try ReferenceReading(
            context, unlock, refusesCopies: strict,
            standardInputIsDataOf: InputFile.isStandardInput(input) ? "-i" : nil)
        let text = try InputFile(input).readWhole(maximum: 4 << 20, hint: "a template has at most 4 MiB")
        let template = try text.withBytes { (text: Span<UInt8>) throws(Failure) in try ReferenceTemplate(text) }
        guard !target.isStandardOutput || !StandardOutput.isTerminal || reveal else {
            throw Failure(
                .usage, "the text has secrets, and standard output is a terminal",
                hint: "--reveal prints it; -o FILE writes it to a file")
        }
        var filled = SecretBuffer(capacity: text.count + 4096)
        for part in template.parts {
            switch part {
            case .text(let range): text.withBytes { filled.append($0.extracting(range)) }
            case .reference(let reference, let line):
                guard let value = try value(of: reference, line, reading, context) else { continue }
                filled.append(value)
            }
        }
        let whole = filled.finish()
        guard !target.isStandardOutput else { return try context.output.writeSecret(whole) }
        try target.write(whole)
        try target.finish(context)
    }

    private func value(
        of reference: ValueReference, _ line: Int, _ reading: ReferenceReading, _ context: CommandContext
    ) throws -> SecretBytes? {
        do { return try reading.value(of: reference).take() } catch let failure as Failure {
            guard allowMissing, failure.status == .notFound else { throw failure.inLine(line) }
            context.output.notice("warning: line \(line): \(failure.message)")
            return nil
        }
    }

    private static func mode(_ text: String) throws(Failure) -> mode_t {
        guard let mode = mode_t(text, radix: 8), mode & ~0o777 == 0, text.count <= 4 else {
            throw Failure(usage: "--mode \"\(text.shown)\" is no mode of a file from 0000 to 0777")
        }
        return mode
    }
}
