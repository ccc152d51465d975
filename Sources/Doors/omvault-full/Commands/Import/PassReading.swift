// The decryption of a store of pass or gopass. This process copies the decrypted bytes, and never looks at them: the confined
// process of an import reads them.

internal import Glibc
internal import OMCrypto
internal import OMInterchange
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMSystem

/// The outcome of decrypting a file.
enum DecryptedFile: ~Copyable {
    case opened(SecretBytes)
    /// The user has none of the private keys.
    case noKey
    /// gpg cannot use the private key: a wrong passphrase, or no pinentry.
    case unusableKey
    /// The file is encrypted with a password, and not for a key.
    case ownPassword
    /// The file is damaged, or no encrypted file.
    case damaged
    /// The file has more bytes than a field.
    case tooLong
}

/// The entries of a store, decrypted and packed.
struct PassReading: ~Copyable {
    private let store: PassStore
    private var pack = ForeignStore()
    /// The entries that no key of the user opens, and the damaged ones.
    private(set) var unopened: [String] = []
    private var status: ExitStatus?
    private var failedKeys: Set<String> = []

    /// - Parameter keyFile: The path of age's identities.
    init(_ store: PassStore, _ secrets: borrowing SecretSources, keyFile: String?, _ context: CommandContext) throws {
        self.store = store
        // Accident: the program that started omvault ignores the end of children, and gpg inherits that: then no end is reported.
        signal(SIGCHLD, SIG_DFL)
        let identities = try Self.identities(store, secrets, keyFile: keyFile)
        var line = ProgressLine(isQuiet: context.output.isQuiet)
        defer { line.end() }
        for (index, file) in store.files.enumerated() {
            line.show("decrypting \(index + 1) of \(store.files.count)")
            try add(file, identities)
        }
        if let failure, pack.count == 0 { throw failure }
    }

    /// The error of the files that could not be opened. Nil if all could.
    var failure: Failure? {
        guard !unopened.isEmpty else { return nil }
        let first = unopened[0]
        let others =
            pack.count == 0 ? "nothing was imported; \(first)" : "the report names \(unopened.count == 1 ? "it" : "them")"
        return Failure(
            status ?? .badSecret,
            "\(unopened.count) of \(store.files.count.of("file")) of \"\(store.path)\" could not be opened; \(others)",
            hint: "try one by itself: pass show NAME, or gpg --decrypt FILE; export GPG_TTY=$(tty) lets gpg ask here",
            "the same command adds what can be opened later",
            details: ["files": .list(unopened.map { .text($0) })])
    }

    private mutating func add(_ file: PassStore.File, _ identities: [AgeIdentity]) throws {
        let descriptor = store.open(file)
        guard descriptor >= 0 else {
            return miss(file, .corrupt, "it cannot be read")
        }
        let input = InputFile(owning: descriptor, file.path)
        let outcome =
            try file.isAge
            ? AgeEntry.decrypt(input, identities)
            : GPGProgram.decrypt(input.descriptor, atMost: Item.maximumFieldCount, &failedKeys)
        switch consume outcome {
        case .opened(let content):
            do throws(InterchangeError) { try pack.append(file.name, content) } catch { throw Failure(error).about(file.path) }
        case .noKey: miss(file, .badSecret, "none of your keys opens it")
        case .unusableKey: miss(file, .badSecret, "gpg cannot use your private key: a wrong passphrase, or no pinentry")
        case .ownPassword: miss(file, .badSecret, "it has a password of its own: decrypt it with gpg")
        case .damaged: miss(file, .corrupt, "it is damaged")
        case .tooLong: miss(file, .policy, "it has more bytes than a field can have")
        }
    }

    /// Of several errors a damaged file counts first, then a file that no key opens.
    private mutating func miss(_ file: PassStore.File, _ status: ExitStatus, _ reason: String) {
        unopened.append("\"\(file.path)\": \(reason)")
        let order: [ExitStatus] = [.corrupt, .badSecret, .policy]
        self.status = order.first { $0 == status || $0 == self.status }
    }

    private static func identities(
        _ store: PassStore, _ secrets: borrowing SecretSources, keyFile: String?
    ) throws -> [AgeIdentity] {
        let number = store.files.count { $0.isAge }
        guard number > 0 else { return [] }
        guard let keyFile else {
            throw Failure(
                .usage, "\(number.of("file")) of the store \(number == 1 ? "is" : "are") encrypted with age",
                hint: "--key-file FILE names the file of your age keys")
        }
        let bytes = try InputFile(keyFile).readWhole(maximum: KeyFile.maximumCount, hint: "a key is a short file")
        return try KeyFileOpening(passwordOption: "--password-from", limit: .standard).ageIdentities(bytes, secrets)
    }

    /// What is in the store and not in the vault afterwards, save for the entries that cannot be opened.
    var leftOut: [String] {
        let number = store.others
        return store.leftOut + (number > 0 ? ["\(number.of("file")) without .gpg or .age at the end of the name"] : [])
    }

    /// Gives the packed entries to `body` through a pipe, so that they are in no file.
    consuming func send<R>(_ body: (Int32) throws(Failure) -> R) throws(Failure) -> R {
        let pipe = try ProgramPipe()
        let packed = PackedStore(pack.finish())
        let failure = DetachedThread.start {
            _ = packed.bytes.withBytes { writeAll($0, to: pipe.writing) }
            pipe.closeWriting()
        }
        guard failure == 0 else { throw Failure(.io, "a thread cannot be started", errno: failure) }
        // If the other end has gone, the thread ends.
        defer { pipe.closeReading() }
        return try body(pipe.reading)
    }
}

/// The packed entries, for the thread that sends them.
private final class PackedStore: Sendable {
    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

/// A file of a store that age opens.
private enum AgeEntry {
    static func decrypt(_ input: borrowing InputFile, _ identities: [AgeIdentity]) throws -> DecryptedFile {
        var plain = SecretBuffer(capacity: 4096)
        do {
            let reader = try input.readStart(AgeReader.startCount).withBytes { AgeReader(after: $0) }
            let file = try AgeFile(from: { try reader.read(into: &$0) { try input.read(into: &$0) } })
            try file.unlock(with: identities).open(
                from: { room in try reader.read(into: &room) { try input.read(into: &$0) } },
                to: { piece in
                    guard plain.count + piece.count <= Item.maximumFieldCount else { throw TooLong() }
                    plain.append(piece)
                })
        } catch is TooLong {
            return .tooLong
        } catch let error as CryptoError {
            return error == .noMatchingIdentity || error == .wrongUnlockMethod ? .noKey : .damaged
        }
        return .opened(plain.finish())
    }

    private struct TooLong: Error {}
}
