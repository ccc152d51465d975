internal import ArgumentParser
internal import OMShell

/// `--clip`: the secret goes to the clipboard instead of standard output.
struct ClipOption: ParsableArguments {
    @Option(
        defaultAsFlag: ClipTime.standard,
        // Otherwise the parser forgets the value when another option follows.
        parsing: .next,
        help: ArgumentHelp(
            "Copy it to the clipboard instead, and clear that after so many seconds; 0 is never.", valueName: "seconds"))
    var clip: ClipTime?

    /// The commands with this option.
    private static let verbs = [["get"], ["otp"], ["gen"]]

    /// `--clip` alone never takes the next word: in `get --clip github` that is the item. So it becomes `--clip=default`.
    static func spelled(_ arguments: [String], of verb: [String]) -> [String] {
        guard verbs.contains(verb) else { return arguments }
        let options = arguments.prefix { $0 != "--" }
        return options.map { ["--clip", "--clip="].contains($0) ? "--clip=\(ClipTime.usual)" : $0 }
            + arguments.dropFirst(options.count)
    }

    /// The clipboard that the option asks for. Nil without the option. Make it before a secret is read: without a clipboard
    /// nothing is asked and no counted code is used up.
    ///
    /// - Parameter other: The command that prints the secret.
    /// - Throws: ``ExitStatus/clipboard``, ``ExitStatus/config``.
    func clipboard(_ context: CommandContext, instead other: String) throws(Failure) -> Clipboard? {
        guard let clip else { return nil }
        return try Clipboard(clip.seconds(), context, instead: other)
    }
}

/// The value of `--clip`.
struct ClipTime: ExpressibleByArgument, CustomStringConvertible {
    /// The value for the time of the environment.
    static let usual = "default"

    /// As it was typed. The parser would take a wrong value for a missing one, so it
    /// is checked later.
    private let typed: String

    /// `OMVAULT_CLIP_TIME`, else 30 seconds.
    static let standard = ClipTime(argument: usual)

    /// A week.
    private static let longest: UInt32 = 7 * 24 * 3600

    init(argument: String) { typed = argument }

    var description: String { typed == Self.usual ? "OMVAULT_CLIP_TIME, or 30" : typed }

    /// - Throws: ``ExitStatus/usage``, and ``ExitStatus/config`` if the variable is no such number.
    func seconds() throws(Failure) -> UInt32 {
        guard typed == Self.usual else {
            guard let seconds = Self.seconds(typed) else {
                throw Failure(usage: "--clip takes 0 to \(Self.longest) seconds")
            }
            return seconds
        }
        guard let text = Environment.text("OMVAULT_CLIP_TIME") else { return 30 }
        guard let seconds = Self.seconds(text) else {
            throw Failure(
                .config, "OMVAULT_CLIP_TIME is \"\(text)\", which is not a number of seconds",
                hint: "it takes 0 (never) to \(Self.longest)")
        }
        return seconds
    }

    private static func seconds(_ text: String) -> UInt32? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = UInt32(text), seconds <= longest else {
            return nil
        }
        return seconds
    }
}
