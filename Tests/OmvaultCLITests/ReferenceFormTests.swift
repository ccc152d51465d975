// The forms in which references are written: a reference itself, a file of variables, a template.

import OMItems
import OMSecrets
import Testing

@testable import OMShell
@testable import omvault_full

@Suite("References, files of variables and templates") struct ReferenceFormTests {
    @Test("the first part is the vault, the last one the field, and all between is the item")
    func parts() throws {
        for (text, vault, item, field) in [
            ("om://v/i/f", "v", "i", "f"), ("om://v/i", "v", "i", nil), ("om://v/i/", "v", "i", nil),
            ("om://v/a/b/f", "v", "a/b", "f"),
            ("om://v/a/b/", "v", "a/b", nil), ("om://v//a//", "v", "/a/", nil),
            ("om://%2Fx.omv/a b%2Fc:d/é", "/x.omv", "a b/c:d", "é"),
            ("om://v/%25%3f#/f", "v", "%?#", "f"),
        ] as [(String, String, String, String?)] {
            let found = try ValueReference(text)
            #expect(found.vault == vault && found.item.text == item && found.field?.text == field, "\(text)")
            #expect(found.attribute == nil && found.format == nil)
        }
        #expect(try ValueReference("om://v/i/f?attribute=len").attribute == .len)
        #expect(try ValueReference("om://v/i?format=hex").format == .hex)
        let short = try ValueReference(argument: "\"a:b\":f")
        #expect(short.vault == nil && short.item.text == "a:b" && short.field?.text == "f")
    }

    @Test(
        "text that is no reference is refused",
        arguments: [
            "", "om:/v/i/f", "OM://v/i/f", "om://", "om://v", "om://v/", "om://v//", "om:///i/f", "om://v/i/f%", "om://v/i/%4",
            "om://v/i/%zz",
            "om://v/i/%ff", "om://v/i/a%2Fb", "om://v/i/f?", "om://v/i/f?attr", "om://v/i/f?attr=", "om://v/i/f?attr=x",
            "om://v/i/f?x=len",
            "om://v/i/f?attr=len&attr=len", "om://v/i/f?format=pem", "om://v/%00/f", "om://v/i/a=b",
        ])
    func refused(text: String) {
        #expect { try ValueReference(text) } throws: { ($0 as? Failure)?.status == .usage }
    }

    private static func variables(_ text: String) throws -> [String] {
        var found: [String] = []
        try EnvironmentFile(SecretBytes(copying: Array(text.utf8))).forEach { name, value in
            found.append(
                name + "=" + value.withBytes { value in String(decoding: value.indices.map { value[$0] }, as: UTF8.self) })
        }
        return found
    }

    @Test("a failure about a variable of a file has the number of its line")
    func environmentFileLine() throws {
        let file = try EnvironmentFile(SecretBytes(copying: Array("A=1\n\nB='x\ny'\nC=2".utf8)))
        #expect { try file.forEach { name, _ in if name == "C" { throw Failure(usage: "\(name) fails") } } } throws: {
            ($0 as? Failure)?.message == "line 5: C fails"
        }
    }

    @Test("a prefix gives no variable in which the loader, a shell or an interpreter reads code")
    func refusedVariables() throws {
        for name in ["PATH", "LD_PRELOAD", "BASH_ENV", "ENV", "IFS", "PYTHONSTARTUP", "NODE_OPTIONS", "GIT_CONFIG_COUNT"] {
            #expect(ItemPrefix.isRefused(name), "\(name)")
        }
        for name in ["DB_PASSWORD", "PATHS", "API_ENV", "HOME_PATH"] { #expect(!ItemPrefix.isRefused(name), "\(name)") }
    }

    @Test("a file of variables: comments, quotes, escapes, blanks; of two with one name the later one counts")
    func environmentFile() throws {
        for (text, wanted) in [
            ("", []), ("\n# A=b\n  \t\r\n", []), ("A=b", ["A=b"]), ("A=\nB=", ["A=", "B="]), ("A=b\r\nB=c\r\n", ["A=b", "B=c"]),
            ("  export  A = b c # d", ["A=b c"]), ("A=b#c", ["A=b#c"]), ("A=#c", ["A="]), ("export=1", ["export=1"]),
            ("A='b # c' # d\nB=\"x\ny\"", ["A=b # c", "B=x\ny"]), (#"A="\n\t\r\"\\\$\x$Y""#, ["A=\n\t\r\"\\$\\x$Y"]),
            (#"A='\n'"#, ["A=\\n"]),
            ("A=1\nB=2\nA=3", ["B=2", "A=3"]), ("A=$B `c` ${D}", ["A=$B `c` ${D}"]), ("_a1=x=y", ["_a1=x=y"]),
        ] { #expect(try Self.variables(text) == wanted, "\(text)") }
        for (text, line) in [
            ("A", 1), ("\nA b", 2), ("1A=b", 1), ("A-B=c", 1), ("=b", 1), ("A='b", 1), ("A=1\n\nB=\"x\ny", 3), ("A='b' c", 1),
            ("é=b", 1),
            ("A='x\ny'\nsecret", 3),
        ] {
            #expect { try Self.variables(text) } throws: { error in
                guard let failure = error as? Failure else { return false }
                return failure.status == .usage && failure.message.hasPrefix("line \(line): ")
                    && !failure.message.contains("secret")
            }
        }
    }

    private static func template(_ text: String) throws -> [String] {
        let bytes = Array(text.utf8)
        return try ReferenceTemplate(bytes.span).parts.map { part in
            switch part {
            case .text(let range): String(decoding: bytes[range], as: UTF8.self)
            case .reference(let reference, let line): "<\(line):\(reference.item.text)>"
            }
        }
    }

    @Test("a template is text and references; another {{ is text, and what begins as a reference must be one")
    func template() throws {
        for (text, wanted) in [
            ("", []), ("a {{ b }} {{", ["a {{ b }} {{"]), ("{{ om://v/i/f }}", ["<1:i>"]),
            ("a\n{{om://v/i/f}}b", ["a\n", "<2:i>", "b"]),
            ("{{{ om://v/i/f }}}", ["{", "<1:i>", "}"]), ("{{\tom://v/a b/f\t}}{{ om://v/j }}", ["<1:a b>", "<1:j>"]),
            ("{{ om:/x }} om://v/i/f", ["{{ om:/x }} om://v/i/f"]), ("{ { om://v/i }}", ["{ { om://v/i }}"]),
            ("{{\nom://v/i }}", ["{{\nom://v/i }}"]),
        ] { #expect(try Self.template(text) == wanted, "\(text)") }
        for (text, line) in [
            ("{{ om://", 1), ("\n{{ om://v/i\n}}", 2), ("{{ om://v }}", 1), ("{{ om://v/i/f?attr=x }}", 1),
            ("{{ om://v/i/f | upper }}", nil),
        ] as [(String, Int?)] {
            if let line {
                #expect { try Self.template(text) } throws: { ($0 as? Failure)?.message.hasPrefix("line \(line): ") == true }
            } else {
                #expect(try Self.template(text) == ["<1:i>"], "a field can have a bar in its name")
            }
        }
    }

    @Test("the variable of a field below a prefix")
    func prefix() throws {
        for (argument, vault, start) in [
            ("prod", nil, "prod/"), ("prod/", nil, "prod/"), ("om://v/prod/a", "v", "prod/a/"), ("om://v/prod/", "v", "prod/"),
        ] as [(String, String?, String)] {
            let prefix = try #require(ItemPrefix(argument: argument))
            #expect(prefix.vault == vault && prefix.start == start, "\(argument)")
        }
        #expect(ItemPrefix(argument: "") == nil && ItemPrefix(argument: "om://v") == nil)
        let prefix = try #require(ItemPrefix(argument: "prod"))
        for (item, field, wanted) in [
            ("prod/db", "password", "DB_PASSWORD"), ("prod/db-1/main", "api.key", "DB_1_MAIN_API_KEY"), ("prod/1", "é", "_1___"),
        ] { #expect(prefix.variable(try ItemName(item), try FieldName(field)) == wanted) }
    }
}
