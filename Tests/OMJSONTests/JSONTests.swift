// The texts that are JSON, and those that only some other readers accept.

import OMJSON
import Testing

@Suite("JSON") struct JSONTests {
    private func read(_ text: String) -> JSON? { try? JSON(parsing: Array(text.utf8).span) }

    @Test("values of every kind are read, and numbers keep their spelling")
    func values() {
        #expect(
            read(" {\"a\" : [1, -0.5e+7, true,false , null,\"x\"],\"b\":{}} ")
                == .object([
                    "a": .array([.number("1"), .number("-0.5e+7"), .bool(true), .bool(false), .null, .string("x")]),
                    "b": .object([:]),
                ]))
        #expect(read("[]") == .array([]) && read("0") == .number("0") && read("\"\"") == .string(""))
    }

    @Test("escapes are read, and two spellings of one name are refused as a repeated member")
    func escapes() {
        #expect(read(#""\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00""#) == .string("\"\\/\u{8}\u{C}\n\r\té😀"))
        #expect(read(#"{"a":1,"\u0061":2}"#) == nil && read(#"{"x":{"a":1,"a":1}}"#) == nil)
    }

    @Test(
        "any other text is refused, with its position",
        arguments: [
            ("", 0, "the file ends within a value"), ("{\"a\":1} x", 8, "something follows the value"), ("[1,]", 3, "no value"),
            ("{\"a\":1,}", 7, "a member's name is missing"), ("{a:1}", 1, "a member's name is missing"),
            ("{\"a\" 1}", 5, "a colon is missing"), ("{\"a\":1 \"b\":2}", 7, "an object does not end"),
            ("[1 2]", 3, "an array does not end"), ("[1}", 2, "an array does not end"), ("01", 2, "a number with a leading zero"),
            ("1.", 2, "half a number"), ("1e+", 3, "half a number"), ("-", 1, "no value"), ("+1", 0, "no value"),
            ("nul", 3, "no value"), ("\"\\x\"", 3, "an unknown escape"), ("\"\\ud800\"", 7, "half a surrogate"),
            ("\"\\ud800\\u0041\"", 13, "half a surrogate"), ("\"\\udc00\"", 7, "half a surrogate"),
            ("\"\\u12\"", 3, "four hex digits are missing"), ("\"\\u00g0\"", 3, "four hex digits are missing"),
            ("\"a\tb\"", 2, "a control character within a string"), ("\"a", 2, "a string does not end"),
            ("\"a\\", 3, "a string does not end"), ("{\"a\":1,\"a\":2}", 10, "a member twice"),
        ])
    func refused(text: String, position: Int, problem: String) {
        #expect(throws: MalformedJSON(position: position, problem: problem)) { try JSON(parsing: Array(text.utf8).span) }
    }

    @Test("at most 32 lists may be open at once, and a string must be UTF-8")
    func bounds() {
        func lists(_ count: Int) -> String { String(repeating: "[", count: count) + String(repeating: "]", count: count) }
        #expect(read(lists(32)) != nil && read(lists(33)) == nil)
        #expect((try? JSON(parsing: [0x22, 0xFF, 0x22].span)) == nil)
        #expect((try? JSON(parsing: [0x22, 0xC3, 0xA9, 0x22].span)) == .string("é"))
    }

    @Test("written values are read unchanged")
    func written() {
        for text in ["{\"a\":[1,2.50,\"x\\u000a\\\"\"],\"b\":null}", "[]", "true"] {
            #expect(read(text)?.serialized == text)
        }
        #expect(JSONText.escaped("\u{1F600}") == "\\ud83d\\ude00" && JSONText.quoted("\u{7f}é") == "\"\u{7f}é\"")
    }

    @Test("a flat object has texts, numbers and truth values, and an unwanted member may have any value")
    func flat() {
        func flat(_ text: String, _ wanted: Set<String>? = nil) -> [String: JSON]? {
            JSON.flatObject(parsing: Array(text.utf8).span, only: wanted)
        }
        #expect(flat("{\"a\":1,\"b\":[{}]}", ["a"]) == ["a": .number("1")])
        #expect(flat("{\"a\":1,\"b\":[]}") == nil && flat("{\"a\":null}") == nil && flat("[]") == nil)
    }

    @Test("the position of a value is found without decoding")
    func places() throws {
        let bytes = Array(#"{"a": [1, {"b":2}] ,"c":"d"}"#.utf8)
        var tokens = JSONTokenizer(0..<bytes.count), found: [String] = []
        #expect(try tokens.token(in: bytes.span) == .object)
        while case .name? = try tokens.token(in: bytes.span) {
            found.append(String(decoding: bytes[try tokens.wholeValue(in: bytes.span)], as: UTF8.self))
        }
        #expect(found == [#"[1, {"b":2}]"#, "\"d\""])
    }

    @Test("a part of the bytes is read without the bytes after it")
    func parts() {
        let bytes = Array(#"["\ud83d\ude00",12]"#.utf8)
        for end in 0..<bytes.count {
            var tokens = JSONTokenizer(0..<end)
            #expect(throws: MalformedJSON.self, "\(end)") { while try tokens.token(in: bytes.span) != nil {} }
        }
    }
}
