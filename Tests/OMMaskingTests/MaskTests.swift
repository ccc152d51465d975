// Values in a stream: each split, overlaps, prefixes, forms, and what stays as it is.

import OMSecrets
import Testing

@testable import OMMasking

@Suite("Masks over output") struct MaskTests {
    private static func mask(_ values: (value: String, name: String)...) -> Mask {
        var list = MaskList()
        for (value, name) in values { list.add(SecretBytes(copying: Array(value.utf8)), marker: "<\(name)>") }
        return list.mask()
    }

    private static func masked(_ text: String, _ mask: Mask, cuts: [Int] = []) -> String {
        masked(Array(text.utf8), mask, cuts: cuts)
    }

    private static func masked(_ text: [UInt8], _ mask: Mask, cuts: [Int] = []) -> String {
        var stream = MaskedStream()
        var (shown, start): ([UInt8], Int) = ([], 0)
        for cut in cuts + [text.count] {
            shown += stream.add(text.span.extracting(start..<cut), mask)
            start = cut
        }
        return String(decoding: shown + stream.finish(mask), as: UTF8.self)
    }

    @Test("a value is replaced wherever the text is cut, at one place or two, and byte by byte")
    func everySplit() {
        let mask = Self.mask(("hunter2-secret", "A"), ("tiny", "B"))
        let text = "x hunter2-secret, hunter2-secre tiny\n"
        let wanted = "x <A>, hunter2-secre <B>\n"
        for first in 0...text.utf8.count {
            for second in first...text.utf8.count {
                #expect(Self.masked(text, mask, cuts: [first, second]) == wanted, "\(first) \(second)")
            }
        }
        #expect(Self.masked(text, mask, cuts: Array(1..<text.utf8.count)) == wanted)
    }

    @Test("of two values at one place the longest is replaced, and of values that overlap nothing is left")
    func overlaps() {
        let mask = Self.mask(("abcd", "A"), ("abcdefgh", "B"), ("abcde", "C"), ("ghij-klm", "D"))
        for (text, wanted) in [
            ("abcd", "<A>"), ("abcdX", "<A>X"), ("abcdefX", "<C>fX"), ("abcdefgh", "<B>"), ("abcdefghij-klm.", "<B>."),
            ("abcdabcde", "<A><C>"), ("abcdefghij-kl", "<B>ij-kl"), ("ghij-klm", "<D>"), ("abc", "abc"), ("", ""),
        ] {
            for cut in 0...text.utf8.count { #expect(Self.masked(text, mask, cuts: [cut]) == wanted, "\(text) \(cut)") }
            #expect(Self.masked(text, mask, cuts: Array(0..<text.utf8.count)) == wanted, "\(text)")
        }
    }

    @Test("only bytes that a value begins with are held back, and the newlines at a value's end are not part of it")
    func delay() {
        let mask = Self.mask(("secret-1\n\n", "A"))
        var stream = MaskedStream()
        for (piece, wanted) in [("Password: ", "Password: "), ("yes", "ye"), ("secret-", "s"), ("1\n", "<A>\n")] {
            let shown = stream.add(Array(piece.utf8).span, mask)
            #expect(String(decoding: shown, as: UTF8.self) == wanted)
        }
        let rest = stream.finish(mask)
        #expect(rest.isEmpty)
    }

    @Test("a value is also found as JSON, in a URL and in base64; the start of a value and other bytes pass as they are")
    func forms() {
        let mask = Self.mask(("a\"b/c\n+?>~", "A"), ("plain-word", "B"))
        for text in [
            "a\"b/c\n+?>~", #"a\"b/c\n+?>~"#, "a%22b%2Fc%0A%2B%3F%3E~", "YSJiL2MKKz8+fg", "YSJiL2MKKz8+fg==", "YSJiL2MKKz8-fg",
        ] { #expect(Self.masked("(\(text))", mask) == "(<A>)", "\(text)") }
        #expect(Self.masked("cGxhaW4td29yZA== plain-wor", mask) == "<B> plain-wor")
        // Base64 of a longer text, at each of the three places: only characters of the value are missing.
        for start in ["", "u", "us", "ada"] {
            let encoded = Base64.encode(Array((start + "plain-word" + "!!").utf8))
            let shown = Self.masked(encoded, mask)
            #expect(shown.contains("<B>") && shown.utf8.count < encoded.utf8.count - 8, "\(shown)")
        }
        let binary = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 151 >> 3) }
        var stream = MaskedStream()
        let shown = stream.add(binary.span, mask) + stream.finish(mask)
        #expect(shown == binary)
    }

    @Test("values below four bytes are refused, and no value at all changes nothing")
    func short() {
        var list = MaskList()
        for text in ["", "a", "abc", "abc\n", "\n\n\n\n\n"] {
            let isLong = list.add(SecretBytes(copying: Array(text.utf8)), marker: "<A>")
            #expect(!isLong)
        }
        let (isEmpty, none) = (list.isEmpty, list.mask())
        #expect(isEmpty && Self.masked("abc abc", none) == "abc abc")
        let isLong = list.add(SecretBytes(copying: Array("1234".utf8)), marker: "<A>")
        let one = list.mask()
        #expect(isLong && Self.masked("512345", one, cuts: [3]) == "5<A>5")
    }

    @Test("a value of 1 MiB is replaced as a whole, and its first bytes are shown if it does not go on")
    func large() {
        let value = (0..<1 << 20).map { UInt8(truncatingIfNeeded: ($0 &* $0) >> 7 | 1) }
        var list = MaskList()
        list.add(SecretBytes(copying: value), marker: "<A>")
        let mask = list.mask()
        let cuts = stride(from: 1000, to: 1 << 20, by: 65_536)
        #expect(Self.masked([1] + value + [2], mask, cuts: Array(cuts)) == "\u{1}<A>\u{2}")
        let start = Array(value.prefix(300_000)) + [0]
        var stream = MaskedStream()
        let first = stream.add(Array(start.prefix(299_000)).span, mask)
        #expect(first.isEmpty)
        let rest = stream.add(Array(start.suffix(1001)).span, mask) + stream.finish(mask)
        #expect(rest == start)
    }

    @Test("a value that is added while the stream runs is replaced from then on")
    func added() {
        var list = MaskList()
        list.add(SecretBytes(copying: Array("first-token".utf8)), marker: "<A>")
        let before = list.mask()
        list.add(SecretBytes(copying: Array("token-two".utf8)), marker: "<B>")
        var stream = MaskedStream()
        let after = list.mask()
        var shown = stream.add(Array("token-two first-to".utf8).span, before)
        shown += stream.add(Array("ken token-two".utf8).span, after) + stream.finish(after)
        #expect(String(decoding: shown, as: UTF8.self) == "token-two <A> <B>")
    }

    @Test("random texts of few letters: the same as a search at each place by itself")
    func random() {
        var state: UInt64 = 42
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        func word(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(ascii: "a") + UInt8(next(2)) } }
        for _ in 0..<300 {
            let values = (0...next(6)).map { _ in word(4 + next(9)) }
            let text = word(next(60))
            var list = MaskList()
            for value in values { list.add(SecretBytes(copying: value), marker: "#") }
            var cuts: [Int] = []
            for _ in 0..<next(5) { cuts.append(next(text.count + 1)) }
            let shown = Self.masked(text, list.mask(), cuts: cuts.sorted())
            #expect(shown == Self.plainly(text, values), "\(values) \(text)")
        }
    }

    /// The same rule, written down plainly: the longest value at each place, and values that overlap are one.
    private static func plainly(_ text: [UInt8], _ values: [[UInt8]]) -> String {
        var (shown, end): ([UInt8], Int) = ([], 0)
        for place in text.indices {
            let longest = values.filter { text[place...].starts(with: $0) }.map(\.count).max()
            if let longest {
                if place >= end { shown.append(UInt8(ascii: "#")) }
                end = max(end, place + longest)
            }
            if place >= end { shown.append(text[place]) }
        }
        return String(decoding: shown, as: UTF8.self)
    }
}
