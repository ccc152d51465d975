import Foundation
import OMItems
import OMSecrets
import TestSupport
import Testing

@testable import omvault_full

@Suite("The strength and the age of a password") struct PasswordStrengthTests {
    private func bits(_ password: String, _ words: String...) -> Double? {
        var guessed = GuessedWords()
        for word in words { guessed.add(word) }
        return PasswordStrength.bits(of: SecretBytes(copying: Array(password.utf8)), knowing: guessed)
    }

    @Test("the bits are those that keepassxc-cli estimates")
    func estimate() async throws {
        let passwords = [
            "password", "tulip", "correct horse battery staple", "tG7!xQ2#", "Tr0ub4dor&3", "qwertzuiop", "20111998", "ÄÖÜäöü12",
            "aaaaaaaaaaaaaaaaaaaaaaaa", "vH9.fTz_2LqwXe7Rb1Kd",
        ]
        let folder = try TestFolder()
        try folder.write(passwords.joined(separator: "\n") + "\n", to: "passwords")
        let ran = try await bash(
            "while IFS= read -r line; do printf '%s\\n' \"$line\" | keepassxc-cli estimate; done < passwords", home: folder)
        let shown = ran.output.split(separator: "\n").compactMap { line in
            line.split(separator: "Entropy ").last.flatMap { Double($0.prefix { $0 != "\t" }) }
        }
        try #require(shown.count == passwords.count, "\(ran)")
        for (password, wanted) in zip(passwords, shown) {
            #expect(abs((bits(password) ?? -1) - wanted) < 0.01, "\(password)")
        }
    }

    @Test("what the item and the user are called is guessed first, also as a part of an address")
    func words() throws {
        let plain = try #require(bits("AdaLovelace99"))
        for word in ["ada lovelace", "adalovelace", "mail/adalovelace", "adalovelace@a.example", "https://adalovelace.example/x"]
        {
            let known = try #require(bits("AdaLovelace99", word))
            #expect(known < (word.contains(" ") ? plain : 15), "\(word)")
        }
    }

    @Test("a long password costs no more than its first bytes, and one with a zero byte is no password")
    func long() {
        #expect(bits(String(repeating: "x9", count: 500_000)) == bits(String(repeating: "x9", count: 50)))
        #expect(bits("a\0b") == nil && bits("") == 0)
        // Words of any number and length.
        #expect(bits("tulip", String(repeating: "tulip ", count: 10_000)) != nil)
    }

    @Test("the age of a password begins with its last change, whatever else was changed later")
    func age() throws {
        let (password, other) = (try FieldName("password"), try FieldName("other"))
        func version(_ revision: UInt64, _ fields: [FieldName]) -> ItemVersion {
            ItemVersion(
                revision: revision, modified: Int64(revision) * 100, isTrashed: false,
                fields: fields.map { Item.Field(name: $0, count: 1) })
        }
        /// - Parameter changed: The revisions in which the password was changed.
        func change(_ versions: [ItemVersion], changed: [UInt64]) throws -> Int64? {
            try PasswordAge.lastChange(of: password, in: versions) { old, new in
                #expect(old + 1 == new)
                return changed.contains(new)
            }
        }
        let all = (1...5).reversed().map { version($0, [password, other]) }
        #expect(try change(all, changed: []) == 100)
        #expect(try change(all, changed: [2, 4]) == 400)
        #expect(try change(all, changed: [5]) == 500)
        #expect(try change(Array(all.prefix(2)), changed: [2]) == 400)
        #expect(try change([version(3, [password]), version(2, [password]), version(1, [other])], changed: []) == 200)
        #expect(try change([], changed: []) == nil)
    }
}
