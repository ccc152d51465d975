// A file of another program, and the reader of its format.

internal import OMCrypto
package import OMSecrets

/// A reader of a whole file, which is in locked memory.
package struct ForeignReader: ~Copyable {
    package let format: ForeignFormat
    private let bytes: SecretBytes

    /// The largest file that is read.
    package static let maximumCount = 128 << 20
    /// The most entries of a file.
    package static let maximumEntries = 100_000
    /// The most bytes of all values of a file.
    package static let maximumTotal = 256 << 20

    /// - Parameter format: Nil to find out.
    /// - Throws: ``InterchangeError/otherFormat``, ``InterchangeError/unsupported(_:remedy:)``.
    package init(_ bytes: consuming SecretBytes, as format: ForeignFormat?) throws(InterchangeError) {
        let found = try bytes.withBytes { (bytes: Span<UInt8>) throws(InterchangeError) in
            if let format { return format }
            return try ForeignFormat.recognised(in: bytes)
        }
        self.init(bytes, found)
    }

    private init(_ bytes: consuming SecretBytes, _ format: ForeignFormat) {
        self.format = format
        self.bytes = bytes
    }

    /// Whether a password or a key file opens it.
    package borrowing func needsKey() throws(InterchangeError) -> Bool {
        switch format {
        case .csv, .netrc, .env, .keePassXML, .pass, .onePassword: false
        case .kdbx: true
        case .bitwarden: try BitwardenReader(bytes).isEncrypted
        }
    }

    /// Passes each entry to `take`, in the file's order.
    ///
    /// - Parameters:
    ///   - map: What the columns of a CSV file are. Nil to find out.
    ///   - variables: The reader of files of variables.
    package borrowing func read(
        with key: borrowing ForeignKey, map: CSVMap? = nil,
        variables: (borrowing SecretBytes) throws(InterchangeError) -> ForeignEntry,
        _ take: (ForeignEntry) throws(InterchangeError) -> Void
    ) throws(InterchangeError) -> ForeignSummary {
        switch format {
        case .csv: return try CSVReader.read(bytes, map: map, take)
        case .bitwarden: return try BitwardenReader(bytes).read(with: key, take)
        case .netrc: return try NetrcReader.read(bytes, take)
        case .pass: return try PassReader.read(bytes, take)
        case .onePassword: return try OnePasswordReader(bytes).read(take)
        case .env:
            let entry = try variables(bytes)
            if !entry.fields.isEmpty { try take(entry) }
            return ForeignSummary()
        case .kdbx:
            let contents = try bytes.withBytes { (bytes: Span<UInt8>) throws(InterchangeError) in
                try KDBXReader.read(bytes, key: key)
            }
            return try Self.pass(contents, take)
        case .keePassXML:
            let contents = try bytes.withBytes { (bytes: Span<UInt8>) throws(InterchangeError) in
                try KeePassXMLReader.read(bytes)
            }
            return try Self.pass(contents, take)
        }
    }

    private static func pass(
        _ contents: ForeignContents, _ take: (ForeignEntry) throws(InterchangeError) -> Void
    ) throws(InterchangeError) -> ForeignSummary {
        for entry in contents.entries { try take(entry) }
        return ForeignSummary(losses: contents.losses)
    }
}

extension ForeignReader {
    /// Lets OpenSSL and the C library load what they need, for a process that cannot open a file afterwards.
    package static func prepare() {
        let key = SecretBytes(count: 32) { _ in }
        let block = [UInt8](repeating: 0, count: 16)
        for algorithm in [DigestAlgorithm.sha256, .sha512] { _ = try? HMAC.tag(of: block.span, algorithm, key: key).count }
        _ = try? KeyDerivation.pbkdf2(.sha256, key, salt: block, iterations: 1, count: 32).count
        // With so much memory each lane has a thread, and at the end of the first thread the C library opens libgcc.
        _ = try? KeyDerivation.argon2(
            .argon2id, key, salt: block, Argon2.Parameters(memoryKiB: 2 << 10, passes: 1, lanes: 2), count: 32
        ).count
        _ = try? BlockCipher(.decrypt, unauthenticated: .aesCBC, key: key, iv: block, padding: .pkcs7).algorithm
    }
}

/// What a reader says of the whole file.
package struct ForeignSummary: Sendable {
    /// What the file has outside its entries and no ``ForeignEntry`` has.
    package var losses: [ForeignLoss] = []
    /// What the columns of a CSV file were taken for.
    package var map: CSVMap?

    package init(losses: [ForeignLoss] = [], map: CSVMap? = nil) { (self.losses, self.map) = (losses, map) }
}
