// Lists of breached passwords: found and not found, in every form of a list, and lists that lie.

import Foundation
import OMSecrets
import OMShell
import TestSupport
import Testing

@testable import omvault_full

@Suite("A list of breached passwords") struct BreachedFileTests {
    /// The lists that python3 and sha1sum make: 200,000 lines, and small ones with MD4 and with other forms.
    private static let lists = Task {
        let folder = try TestFolder()
        let ran = try await bash(
            #"""
            set -e
            python3 - << 'END'
            import hashlib
            def sha1(n): return hashlib.sha1(b'word-%d' % n).hexdigest().upper()
            lines = sorted('%s:%d' % (sha1(n), n % 9 + 1) for n in range(0, 400000, 2))
            open('large', 'w').write('\n'.join(lines) + '\n')
            small = sorted(sha1(n) for n in range(0, 2000, 2))
            open('bare', 'w').write('\n'.join(small))
            open('lower', 'w').write('\n'.join(line.lower() + ':7' for line in small) + '\n')
            open('crlf', 'wb').write(''.join(line + ':7\r\n' for line in small).encode())
            open('padded', 'w').write('\n'.join(line + ':0' for line in small) + '\n')
            open('reversed', 'w').write('\n'.join(reversed(lines)) + '\n')
            # Each half is sorted.
            open('halves', 'w').write('\n'.join(lines[100000:] + lines[:100000]) + '\n')
            open('evens', 'w').write('\n'.join(lines[::2] + lines[1::2]) + '\n')
            # A short sorted list behind a long one, and before it; one line behind it.
            delta = sorted('%s:3' % sha1(n) for n in range(1, 2000, 2))
            open('behind', 'w').write('\n'.join(lines + delta) + '\n')
            open('before', 'w').write('\n'.join(delta + lines) + '\n')
            open('one', 'w').write('\n'.join(lines + delta[:1]) + '\n')
            # Cut off between two lines, at the end and at the start.
            open('short', 'w').write('\n'.join(lines[:198000]) + '\n')
            open('late', 'w').write('\n'.join(lines[2000:]) + '\n')
            open('blank', 'w').write('\n\r\n'.join(line + ':7' for line in small) + '\n\r\n\n')
            open('cut', 'w').write('\n'.join(lines)[:-20])
            changed = list(small)
            changed[500] = changed[500][:-1]
            open('damaged', 'w').write('\n'.join(changed) + '\n')
            END
            # The same hash by another program.
            test "$(printf word-0 | sha1sum | cut -d ' ' -f 1 | tr a-f A-F)" = "$(grep "$(printf word-0 | sha1sum \
                | cut -d ' ' -f 1 | tr a-f A-F)" bare)"
            # NTLM of "" and "password".
            printf '31d6cfe0d16ae931b73c59d7e0c089c0\n8846f7eaee8fb117ad06bdd830b7586c:3\n' > ntlm
            : > empty; mkfifo pipe; mkdir folder; printf '%040d:1x\n' 0 > bad; printf 'x%.0s' {1..5000} > long
            """#, home: folder)
        try #require(ran.status == 0, "\(ran)")
        return folder
    }

    private func file(_ name: String, mostRead: Int) async throws -> BreachedFile {
        try BreachedFile(try await Self.lists.value.file(name), mostRead: mostRead)
    }

    /// How often each of the words is in the list. 0 for a breach without a number.
    private func counts(_ words: [String], in file: BreachedFile) throws -> [Int: Int] {
        var hashes = SecretBuffer()
        for word in words { hashes.append(try file.hash(of: SecretBytes(copying: Array(word.utf8)))) }
        return try file.breaches(of: hashes.finish()).mapValues { $0 ?? 0 }
    }

    private func words(_ numbers: some Sequence<Int>) -> [String] { numbers.map { "word-\($0)" } }

    @Test("in a large list a search finds each password that is there with its number, and none that is not")
    func large() async throws {
        let numbers = Array(stride(from: 0, to: 400_000, by: 999))
        let found = try counts(words(numbers), in: try await file("large", mostRead: 0))
        for (index, number) in numbers.enumerated() {
            #expect(found[index] == (number % 2 == 0 ? number % 9 + 1 : nil), "word-\(number)")
        }
    }

    @Test(
        "a small list gives the same by a search and read as a whole: with lower case, CR LF, empty lines, and without numbers or a last newline",
        arguments: [("bare", 0), ("lower", 7), ("crlf", 7), ("blank", 7)], [0, 1 << 20])
    func forms(_ list: (name: String, count: Int), _ mostRead: Int) async throws {
        let found = try counts(words(0..<2000), in: try await file(list.name, mostRead: mostRead))
        #expect(found.count == 1000 && found.allSatisfy { $0.key % 2 == 0 && $0.value == list.count })
    }

    @Test("two items with one password are both found, and a line with the number 0 is no breach", arguments: [0, 1 << 20])
    func zeros(_ mostRead: Int) async throws {
        #expect(try counts(words(0..<20), in: try await file("padded", mostRead: mostRead)).isEmpty)
        let twice = try counts(["word-2", "word-1", "word-2"], in: try await file("lower", mostRead: mostRead))
        #expect(twice == [0: 7, 2: 7])
        #expect(try counts([], in: try await file("lower", mostRead: mostRead)).isEmpty)
    }

    @Test("NTLM hashes are of the UTF-16 of a password", arguments: [0, 1 << 20])
    func ntlm(_ mostRead: Int) async throws {
        let list = try await file("ntlm", mostRead: mostRead)
        #expect(list.hash == .nt)
        #expect(try counts(["password", "", "Password"], in: list) == [0: 3, 1: 0])
        let hash = try list.hash(of: SecretBytes(copying: Array("Pässwort €😀".utf8)))
        // By iconv and by openssl's MD4.
        let text = Hex.encode(hash).withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
        #expect(text == "26356cc0819609580a8e11354df532d9")
    }

    @Test("a list that is not sorted is read as a whole if it is small, and refused with the way to sort it if it is large")
    func unsorted() async throws {
        #expect(try counts(["word-2", "word-3"], in: try await file("reversed", mostRead: 1 << 30)) == [0: 3])
        for name in ["reversed", "halves", "evens", "behind", "before", "one"] {
            let file = try await file(name, mostRead: 0)
            let error = #expect(throws: Failure.self, "\(name)") { try counts(words(0..<10), in: file) }
            #expect(error?.status == .corrupt && error?.hints.first?.hasPrefix("LC_ALL=C sort -o ") == true, "\(name)")
        }
    }

    @Test("a searched list that begins or ends as no whole one does is doubted")
    func doubted() async throws {
        for (name, words) in [("large", nil), ("short", "begins with 0000 and ends with FD"), ("late", "begins with 02")] {
            let file = try await file(name, mostRead: 0)
            #expect(try counts(["word-3"], in: file).isEmpty)
            #expect(words.map { file.doubt?.hasPrefix($0) == true } ?? (file.doubt == nil), "\(name): \(file.doubt ?? "-")")
        }
        // A small list can be a person's own.
        let small = try await file("short", mostRead: 1 << 30)
        #expect(try counts(["word-3"], in: small).isEmpty && small.doubt == nil)
    }

    @Test("a line that is no hash is refused with its place, also the last one of a list that is cut off")
    func damaged() async throws {
        for (name, mostRead) in [("cut", 0), ("cut", 1 << 30), ("damaged", 1 << 30)] {
            let file = try await file(name, mostRead: mostRead)
            let error = #expect(throws: Failure.self, "\(name)") { try counts(["word-2"], in: file) }
            #expect(error?.status == .corrupt && error?.message.contains("no hash in the line at byte") == true, "\(name)")
        }
        // Each line of a part that is searched is looked at.
        let all = try await file("damaged", mostRead: 0)
        #expect(throws: Failure.self) { try counts(words(0..<2000), in: all) }
    }

    @Test(
        "what is no list of hashes is refused when it is opened",
        arguments: [
            ("empty", .corrupt), ("bad", .corrupt), ("long", .corrupt), ("pipe", .usage), ("folder", .usage), ("none", .io),
            ("../../../../dev/zero", .usage),
        ] as [(String, OMShell.ExitStatus)])
    func refused(_ name: String, _ status: OMShell.ExitStatus) async throws {
        let path = name.hasSuffix("zero") ? "/dev/zero" : try await Self.lists.value.file(name)
        let error = #expect(throws: Failure.self) { try BreachedFile(path) }
        #expect(error?.status == status, "\(String(describing: error?.message))")
    }
}
