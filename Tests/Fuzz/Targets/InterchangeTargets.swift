// Files of other password managers from unknown sources.

import OMCrypto
import OMInterchange
import OMSecrets

enum InterchangeTargets {
    static let all = [
        // The first byte says what the rest is: a file, a payload behind its check values, or the same compressed. The password is
        // always the same, so that libFuzzer's knowledge of the header stays useful.
        FuzzTarget(name: "kdbx", seeds: { seeds }) { bytes in
            guard let kind = bytes.first else { return }
            let rest = Array(bytes.dropFirst())
            switch kind % 4 {
            case 0: _ = try? KDBXReader.read(rest.span, key: ForeignKey(password: secret("password")), limits: limits)
            case 1: _ = try? KDBXReader.read(unchecked: SecretBytes(copying: rest), isCompressed: false, limits: limits)
            case 2: _ = try? KDBXReader.read(unchecked: SecretBytes(copying: rest), isCompressed: true, limits: limits)
            default:
                // The file is the least that is read with a key file.
                let key = ForeignKey(password: nil, keyFile: SecretBytes(copying: rest))
                let file = Array(seeds[0].dropFirst())
                _ = try? KDBXReader.read(file.span, key: key, limits: limits)
            }
        },
        // What is read must be written, and read again as the same.
        FuzzTarget(name: "keepass-xml") { bytes in
            guard let read = try? KeePassXMLReader.read(bytes.span, limits: limits), !read.entries.isEmpty else { return }
            let key = ForeignKey(password: secret("password"))
            guard let file = try? KDBXWriter.write(unstretched: read.entries, key: key, now: 0),
                let again = try? KDBXReader.read(file.bytes.span, key: key)
            else { fatalError("what was read cannot be written and read") }
            precondition(again.entries.count == read.entries.count, "another number of entries")
            // The order of entries follows their groups.
            precondition(sorted(again.entries.map(\.title)) == sorted(read.entries.map(\.title)), "another title")
            // A text can become a one-time password, since a second field of its name has another name now.
            precondition(attachments(again) == attachments(read), "another number of attachments")
        },
    ]

    private static let limits = {
        var limits = KeePassLimits()
        (limits.entries, limits.fields, limits.unpackedBytes, limits.attachmentBytes) = (1_000, 10_000, 1 << 22, 1 << 22)
        (limits.rounds, limits.memoryKiB) = (1 << 10, 64)
        return limits
    }()

    private static func attachments(_ contents: ForeignContents) -> Int {
        contents.entries.reduce(0) { count, entry in count + entry.fields.count { $0.role == .attachment } }
    }

    private static func sorted(_ titles: [String]) -> [[UInt8]] {
        titles.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

    /// A whole file, and what is inside it.
    private static let seeds: [[UInt8]] = {
        var entry = ForeignEntry(title: "t")
        entry.fields = [
            ForeignField("Password", .password, isConcealed: true, secret("p")),
            ForeignField("a", .attachment, isConcealed: true, secret("b")),
        ]
        let key = ForeignKey(password: secret("password"))
        guard let file = try? KDBXWriter.write(unstretched: [entry], key: key, now: 0) else { fatalError("a seed") }
        let inner: [UInt8] = [1, 4, 0, 0, 0, 3, 0, 0, 0, 2, 1, 0, 0, 0, 7, 3, 2, 0, 0, 0, 1, 9, 0, 0, 0, 0, 0]
        let xml = """
            <KeePassFile><Meta/><Root><Group><Entry><String><Key>Password</Key><Value Protected="True">AAAA</Value></String>\
            <Binary><Key>a</Key><Value Ref="0"/></Binary></Entry></Group></Root></KeePassFile>
            """
        return [[0] + file.bytes, [1] + inner + Array(xml.utf8), [3] + Array("<KeyFile><Meta><Version>1.0".utf8)]
    }()
}
