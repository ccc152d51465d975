internal import ArgumentParser
internal import OMRecords
internal import OMShell

/// `--level LEVEL [--device-only]`.
struct LevelOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "When the item can be read: when-unlocked, after-first-unlock or always. The six names of Oracle's IDM Mobile SDK work too.",
            valueName: "level"),
        completion: .levels)
    var level: String?

    @Flag(help: "Bind the item to this device: a portable backup leaves it out.")
    var deviceOnly = false

    /// The level that was given. Nil if none was. An unknown level is an error, and never becomes a weaker level.
    ///
    /// - Parameter defaultLevel: Read for `--device-only` alone, since reading it opens the vault's file.
    func level(
        default defaultLevel: @autoclosure () throws(Failure) -> ProtectionLevel
    ) throws(Failure) -> ProtectionLevel? {
        guard let text = level else {
            return deviceOnly ? ProtectionLevel(try defaultLevel().availability, deviceOnly: true) : nil
        }
        return try ProtectionLevel.parse(text, deviceOnly: deviceOnly)
    }
}

extension ProtectionLevel {
    /// The level that the user typed.
    static func parse(_ text: String, deviceOnly: Bool) throws(Failure) -> ProtectionLevel {
        guard let level = ProtectionLevel(named: text) else {
            throw Failure(
                .usage, "\"\(text.shown)\" is not a protection level",
                hint: "levels: when-unlocked, after-first-unlock, always; each with or without --device-only")
        }
        return ProtectionLevel(level.availability, deviceOnly: level.isDeviceOnly || deviceOnly)
    }
}
