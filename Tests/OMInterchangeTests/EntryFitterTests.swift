import OMInterchange
import OMItems
import OMSecrets
import Testing

@Suite("How entries become items") struct EntryFitterTests {
    private static func entry(_ title: String, _ folders: [String] = [], _ fields: [ForeignField] = []) -> ForeignEntry {
        var entry = ForeignEntry(title: title)
        (entry.folders, entry.fields) = (folders, fields)
        return entry
    }

    private static func field(_ name: String, _ role: ForeignField.Role = .other, _ value: String = "x", concealed: Bool = true)
        -> ForeignField
    {
        ForeignField(name, role, isConcealed: concealed, SecretBytes(copying: Array(value.utf8)))
    }

    private static func fitter(_ prefix: String = "", tags: [ItemTag] = []) -> EntryFitter {
        EntryFitter(prefix: prefix, fallback: "entry", tags: tags)
    }

    @Test("each entry gets a name of its own that an item can have, the same one each time, and a change is told")
    func names() throws {
        let long = String(repeating: "é", count: 200)
        let entries = [
            Self.entry("a"), Self.entry("a"), Self.entry("a (2)"), Self.entry("b", ["x", "y"]), Self.entry("x\u{1}\u{9F}y\n"),
            Self.entry("https://a.example/"), Self.entry(""),
            Self.entry("", [], [Self.field("", .url, "https://u@b.example:1/x?y")]),
            Self.entry(long), Self.entry(long), Self.entry("///"), Self.entry("host:22"),
        ]
        func names() -> [(String, Bool)] {
            var fitter = Self.fitter("in/")
            return entries.flatMap { fitter.items(for: $0) }.map { ($0.name.text, $0.changes.contains(.name)) }
        }
        let found = names()
        let expected: [(String, Bool)] = [
            ("in/a", false), ("in/a (2)", true), ("in/a (2) (2)", true), ("in/x/y/b", false), ("in/x  y", true),
            ("in/https://a.example", true), ("in/entry", true), ("in/b.example:1", true),
            ("in/" + String(repeating: "é", count: 126), true), ("in/" + String(repeating: "é", count: 124) + " (2)", true),
            ("in", true), ("in/host:22", false),
        ]
        for (found, expected) in zip(found, expected) { #expect(found == expected) }
        #expect(found.count == expected.count && names().map(\.0) == found.map(\.0))
        for (name, _) in found { #expect(throws: Never.self) { try ItemName(name) } }
    }

    @Test("fields get names that a vault takes: standard ones first, and none twice")
    func fields() throws {
        let long = String(repeating: "n", count: 70)
        let entry = Self.entry(
            "a", [],
            [
                Self.field("password"), Self.field("URL:1/a=b"), Self.field("PIN:"), Self.field(""), Self.field(""),
                Self.field(long),
                Self.field(long), Self.field("", .password), Self.field("", .url, "u", concealed: false),
                Self.field("", .url, "v", concealed: false), Self.field("", .username, "", concealed: false),
                Self.field("", .notes, "n", concealed: false), Self.field("a.pdf", .attachment),
                Self.field("shown", .other, "\u{1B}[2J", concealed: false), Self.field("empty", .other, ""),
            ])
        var fitter = Self.fitter()
        let item = fitter.items(for: entry)[0]
        let short = String(repeating: "n", count: 64)
        #expect(
            item.fields.map(\.name.text) == [
                "password-2", "URL-1-a-b", "PIN", "field", "field-2", short, short.dropLast(2) + "-2", "password", "url", "url-2",
                "notes", "a.pdf", "shown", "empty",
            ])
        #expect(item.fields.filter(\.isShown).map(\.name.text) == ["url", "url-2"])
        #expect(item.changes.contains(.field(from: "password", to: try FieldName("password-2"))))
        #expect(item.changes.count == 7 && item.type == .login)
        for field in item.fields { #expect(throws: Never.self) { try FieldName(field.name.text) } }
    }

    @Test("many entries, and many fields, of one name are quick")
    func many() {
        var fitter = Self.fitter()
        let names = (0..<20_000).flatMap { _ in fitter.items(for: Self.entry("a")) }.map(\.name.text)
        #expect(names.first == "a" && names.last == "a (20000)" && Set(names).count == 20_000)
        let fields = fitter.items(for: Self.entry("b", [], (0..<4096).map { _ in Self.field("n") })).flatMap(\.fields)
        #expect(fields.last?.name.text == "n-4096")
    }

    @Test("tags, an expiry and the trash fit too, and an entry with more fields than an item has becomes several")
    func others() throws {
        var entry = Self.entry("a", ["f"], (0..<300).map { Self.field("n\($0)") })
        entry.tags = ["x,y", "z", "z", String(repeating: "t", count: 70), ""] + (0..<70).map { "n\($0)" }
        (entry.expires, entry.isTrashed, entry.losses) = (-5, true, [.icon])
        var fitter = Self.fitter(tags: [try ItemTag("web")])
        let items = fitter.items(for: entry)
        #expect(items.map(\.name.text) == ["trash/f/a", "trash/f/a (2)"] && items.map(\.fields.count) == [256, 44])
        #expect(items[0].tags.count == 64 && items[0].tags.prefix(3).map(\.text) == ["web", "x y", "z"])
        // Of 74 tags ten do not fit.
        #expect(items[0].losses.count == 12 && items[0].losses.last == .member("tag n69"))
        #expect(items[0].losses.contains(.icon) && items[0].losses.contains(.time("expires")) && items[0].expires == nil)
        #expect(items[0].changes.contains(.further(items[1].name)) && items[1].changes.contains(.name))
        let note = Self.entry("n", [], [Self.field("", .notes)])
        #expect(fitter.items(for: note)[0].type == .note && fitter.items(for: Self.entry("e"))[0].type == nil)
    }
}
