import Foundation
import OMCrypto
import OMSecrets
import Testing

@Suite("Recipes for passwords") struct PasswordRecipeTests {
    private func text(_ recipe: some PasswordRecipe) -> String { String(decoding: bytes(recipe.password()), as: UTF8.self) }

    private func refusal(_ body: () throws(PasswordRecipeError) -> Void) -> PasswordRecipeError? {
        do throws(PasswordRecipeError) {
            try body()
            return nil
        } catch { return error }
    }

    private func list(_ text: String) throws(PasswordRecipeError) -> WordList { try WordList(Array(text.utf8).span) }

    @Test("the usual password has 20 of 64 characters, which is 120 bits")
    func standard() throws {
        let recipe = try CharacterRecipe()
        #expect(recipe.entropy == 120 && PasswordCharacters.standard.ascii.count == 64)
        #expect(text(recipe).wholeMatch(of: /[A-Za-z0-9_.]{20}/) != nil)
        #expect(Set((0..<50).map { _ in text(recipe) }).count == 50)
    }

    @Test("a set of characters is written as tr(1) has it, and each character counts once")
    func characters() throws {
        for (written, expected) in [
            ("a-e", "abcde"), ("0-9", "0123456789"), ("ba", "ab"), ("aabb", "ab"), ("a-cb-d", "abcd"), ("-a", "-a"), ("a-", "-a"),
            ("+--", "+,-"), ("!-~", String(decoding: Array(0x21...0x7E as ClosedRange<UInt8>), as: UTF8.self)),
        ] {
            #expect(try PasswordCharacters(written).ascii == Array(expected.utf8).sorted(), "\(written)")
        }
        for written in ["z-a", "a b", "é", "a-é", "\t", "a-\u{7F}"] {
            #expect(refusal { () throws(PasswordRecipeError) in _ = try PasswordCharacters(written) } == .malformedCharacters)
        }
        for written in ["", "a", "aa", "a-a"] {
            #expect(refusal { () throws(PasswordRecipeError) in _ = try PasswordCharacters(written) } == .nothingToChoose)
        }
    }

    @Test("every result of a small recipe occurs, about equally often")
    func uniform() throws {
        let rounds = 6000
        // Three characters: the remainder of a random byte would prefer the first of them.
        for recipe in [
            try CharacterRecipe(PasswordCharacters("abc"), length: 1), try WordRecipe(list("x\ny\nz\n"), count: 1),
        ] as [any PasswordRecipe] {
            var counts: [String: Int] = [:]
            for _ in 0..<rounds { counts[text(recipe), default: 0] += 1 }
            #expect(counts.count == 3)
            // Eight standard deviations: chance fails this test less than once in 10^14 runs.
            for count in counts.values { #expect(abs(count - rounds / 3) < 300, "\(counts)") }
        }
    }

    @Test("the entropy is the logarithm of the number of results")
    func entropy() throws {
        #expect(try CharacterRecipe(PasswordCharacters("0-9"), length: 4).entropy == 4 * log2(10))
        #expect(try PronounceableRecipe(length: 3).entropy == log2(16 * 5 * 16))
        #expect(try WordRecipe(list("a\nb\nc\nd\n"), count: 5).entropy == 10)
        // All results of a recipe with few of them, counted.
        let recipe = try PronounceableRecipe(length: 2)
        #expect(Set((0..<5000).map { _ in text(recipe) }).count == 80)
    }

    @Test("the shortest password that reaches an entropy is chosen")
    func reaching() throws {
        #expect(try CharacterRecipe(reaching: 120).length == 20)
        #expect(try CharacterRecipe(reaching: 120.1).length == 21)
        #expect(try CharacterRecipe(PasswordCharacters("ab"), reaching: 1).length == 1)
        let words = try list((1...7776).map { "word\($0)x" }.joined(separator: "\n"))
        #expect(try WordRecipe(words, reaching: 77).count == 6)
        #expect(try WordRecipe(words, reaching: 78).count == 7)
        for bits in [1, 40, 64, 100] as [Double] {
            let recipe = try PronounceableRecipe(reaching: bits)
            #expect(recipe.entropy >= bits)
            #expect(try recipe.length == 1 || PronounceableRecipe(length: recipe.length - 1).entropy < bits)
        }
        #expect(refusal { () throws(PasswordRecipeError) in _ = try PronounceableRecipe(reaching: 10_000) } == .entropyOutOfRange)
        #expect(refusal { () throws(PasswordRecipeError) in _ = try CharacterRecipe(reaching: .nan) } == .entropyOutOfRange)
    }

    @Test("a pronounceable password has consonants and vowels in turn, in groups of six")
    func pronounceable() throws {
        for _ in 0..<50 {
            #expect(
                text(try PronounceableRecipe()).wholeMatch(
                    of: /([bdfghjklmnprstvz][aeiou]){3}(-([bdfghjklmnprstvz][aeiou]){3}){3}/) != nil)
        }
        #expect(text(try PronounceableRecipe(length: 7)).wholeMatch(of: /[a-z]{6}-[a-z]/) != nil)
    }

    @Test("a word list has a word a line; numbers of dice and comments are left out")
    func lists() throws {
        let read = try list("# EFF\n11111\tabacus\r\n11112 abdomen\n\nyo-yo\nübel")
        #expect(read.words.map { String(decoding: $0, as: UTF8.self) } == ["abacus", "abdomen", "yo-yo", "übel"])
        for (text, error) in [
            ("a\nb c\n", .malformedWord(line: 2)), ("a\n\n17 b\n", .malformedWord(line: 3)),
            ("a\n\tb\u{1B}\n", .malformedWord(line: 2)),
            ("a\nb\na", .doubledWord), ("", .nothingToChoose), ("a\n# b\n", .nothingToChoose),
            ("a\n" + String(repeating: "b", count: 65), .malformedWord(line: 2)),
        ] as [(String, PasswordRecipeError)] {
            #expect(refusal { () throws(PasswordRecipeError) in _ = try list(text) } == error, "\(text)")
        }
    }

    @Test("a separator that makes two choices of words alike is refused, since the shown entropy would be too high")
    func ambiguity() throws {
        let words = try list("in\nput\ninput\nin-put\n")
        for (separator, isAllowed) in [("", false), ("-", false), ("p", false), (".", true), (" ", true), (".-", true)] {
            let error = refusal { () throws(PasswordRecipeError) in _ = try WordRecipe(words, count: 2, separator: separator) }
            #expect(error == (isAllowed ? nil : .ambiguousSeparator), "\(separator)")
        }
        // No word begins with another: any separator will do, and a single word needs none.
        _ = try WordRecipe(list("ab\nac\nb-c"), count: 3, separator: "")
        _ = try WordRecipe(words, count: 1, separator: "")
        #expect(
            refusal { () throws(PasswordRecipeError) in _ = try WordRecipe(words, count: 2, separator: "\n") }
                == .malformedSeparator)
    }

    @Test("lengths out of range are refused", arguments: [0, -1, 1025])
    func lengths(length: Int) throws {
        let words = try list("a\nb")
        #expect(refusal { () throws(PasswordRecipeError) in _ = try CharacterRecipe(length: length) } == .lengthOutOfRange)
        #expect(refusal { () throws(PasswordRecipeError) in _ = try PronounceableRecipe(length: length) } == .lengthOutOfRange)
        #expect(refusal { () throws(PasswordRecipeError) in _ = try WordRecipe(words, count: length) } == .lengthOutOfRange)
    }
}
