/// Why a file of another program cannot be read.
package enum InterchangeError: Error, Hashable, Sendable {
    /// The file is not of this format.
    case otherFormat
    /// The format allows it, omvault has it not. The words say what, and what to do: "Twofish", "change the cipher in KeePassXC".
    case unsupported(String, remedy: String)
    /// The password, the key file, or both, do not open the file.
    case wrongKey
    /// The file is encrypted, and no password was given.
    case needsPassword
    /// The key file itself is damaged: its own check value is wrong, or it has no key.
    case damagedKeyFile
    /// The file breaks its format, or was changed. The words say where: "the header's check value".
    case damaged(String)
    /// More than the reader's limit of this: "entries", "bytes", "levels of groups".
    case tooMuch(String)
    /// The given map of columns is not of this file. The words say how many columns each has.
    case otherMap(String)
}
