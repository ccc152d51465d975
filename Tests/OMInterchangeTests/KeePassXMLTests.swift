// The XML of KeePass: its entries, and what is refused.

import Foundation
import OMCrypto
import OMSecrets
import Testing

@testable import OMInterchange

@Suite("Reading KeePass XML") struct KeePassXMLTests {
    @Test("fields get their roles, empty standard fields are left out, and the mark of protection conceals")
    func fields() throws {
        let entry = try KeePassSamples.entry(
            [
                ("Title", "a&amp;b"), ("UserName", "u"), ("URL", ""), ("Notes", "line\nline"), ("KP2A_URL_1", "https://b"),
                ("Own", ""), ("Own", "2"),
            ], inEntry: "<String><Key>Pin</Key><Value ProtectInMemory=\"True\">1</Value></String><Tags> a; b c,;d</Tags>")
        #expect(entry.title == "a&b" && entry.tags == ["a", "b c", "d"] && entry.folders.isEmpty && !entry.isTrashed)
        #expect(entry.fields.map(\.name) == ["UserName", "Notes", "KP2A_URL_1", "Own", "Own", "Pin"])
        #expect(entry.fields.map(\.role) == [.username, .notes, .url, .other, .other, .other])
        #expect(entry.fields.map(\.isConcealed) == [false, false, false, false, false, true])
        #expect(entry.value("Notes") == "line\nline" && entry.losses.isEmpty)
    }

    @Test("what an entry loses is said")
    func losses() throws {
        let entry = try KeePassSamples.entry(
            [("Title", "t")],
            inEntry: """
                <IconID>3</IconID><CustomIconUUID>lmU+9n0aeESKZvcEze+bRg==</CustomIconUUID><OverrideURL>cmd://x</OverrideURL>
                <ForegroundColor/><QualityCheck>False</QualityCheck><New><Inner a="b">x</Inner></New>
                <Binary><Key>gone.txt</Key><Value Ref="7"/></Binary>
                <CustomData><Item><Key>plugin</Key><Value>v</Value></Item><Item><Key>_LAST_MODIFIED</Key><Value>v</Value></Item>
                <Item><Key>omvault.type</Key><Value>new kind</Value></Item>
                </CustomData><AutoType><Enabled>True</Enabled><Association><Window>w</Window></Association></AutoType>
                <Times><CreationTime>soon</CreationTime><Expires>True</Expires><ExpiryTime>never</ExpiryTime></Times>
                <History><Entry><String><Key>Title</Key><Value>old</Value></String></Entry><Entry/></History>
                """)
        #expect(
            Set(entry.losses) == [
                .icon, .member("OverrideURL"), .member("QualityCheck"), .attachment("gone.txt"), .member("CustomData/plugin"),
                .autoType, .time("CreationTime"), .time("ExpiryTime"), .olderVersions(2), .member("New"),
                .member("CustomData/omvault.type"),
            ])
        let placeholders = try KeePassSamples.entry(
            [
                ("UserName", "{REF:U@T:x}"), ("Title", "t"), ("URL", "https://{s:Host}/"), ("Own", "{} {TITLE"),
                ("Notes", "{Title}"),
            ])
        #expect(
            placeholders.losses == [
                .member("placeholder in URL"), .member("placeholder in Notes"), .member("reference in UserName"),
            ])
        let usual = try KeePassSamples.entry(
            [("Title", "t")],
            inEntry: """
                <IconID>0</IconID><AutoType><Enabled>True</Enabled><DataTransferObfuscation>0</DataTransferObfuscation>
                <DefaultSequence/></AutoType><QualityCheck>True</QualityCheck><History/><PreviousParentGroup>a</PreviousParentGroup>
                """)
        #expect(usual.losses.isEmpty)
    }

    @Test(
        "times are read in both forms",
        arguments: [
            ("2012-09-25T16:36:27Z", 1_348_590_987), ("2012-09-25T18:36:27.5+02:00", 1_348_590_987), ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T00:00:00Z", 951_782_400), ("1969-12-31T23:59:59Z", -1), ("ivJZ0A4AAAA=", 1_489_501_066),
            ("2012-13-25T16:36:27Z", nil), ("2012-09-25", nil), ("2012-09-25T16:36:27", nil), ("", nil), ("////////////", nil),
            ("2012-02-30T00:00:00Z", nil), ("2013-02-29T00:00:00Z", nil), ("2012-02-00T00:00:00Z", nil),
            ("2012-12-31T00:00:00Z", 1_356_912_000), ("0000-12-31T00:00:00Z", nil), ("9999-12-31T23:59:59-01:00", nil),
            ("9999-12-31T23:59:59Z", 253_402_300_799), ("AAAAAAAAAAE=", nil), ("0001-01-01T00:00:00Z", -62_135_596_800),
        ] as [(String, Int64?)])
    func times(text: String, seconds: Int64?) {
        #expect(KeePassTime.seconds(text) == seconds)
        if let seconds { #expect(KeePassTime.seconds(KeePassTime.text(seconds)) == seconds) }
        #expect(KeePassTime.seconds(KeePassTime.text(.max)) == 253_402_300_799)
    }

    static let key = "GEZDGNBVGY3TQOJQ"

    @Test(
        "one-time passwords of all forms become an address",
        arguments: [
            ([("otp", "key=\(key)&step=60&size=8")], "digits=8&period=60"),
            ([("otp", "key=\(key)&otpHashMode=Sha256")], "algorithm=SHA256&digits=6&period=30"),
            ([("TOTP Seed", "gezd gnbv gy3t qojq"), ("TOTP Settings", "45;7")], "digits=7&period=45"),
            ([("TOTP Seed", key)], "digits=6&period=30"),
            ([("TimeOtp-Secret", "1234567890")], "algorithm=SHA1&digits=6&period=30"),
            (
                [
                    ("TimeOtp-Secret-Hex", "31323334353637383930"), ("TimeOtp-Length", "8"), ("TimeOtp-Period", "90"),
                    ("TimeOtp-Algorithm", "HMAC-SHA-512"),
                ], "algorithm=SHA512&digits=8&period=90"
            ),
            ([("TimeOtp-Secret-Base32", key)], "totp/My%20site:me?"), ([("TimeOtp-Secret-Base64", "MTIzNDU2Nzg5MA==")], "totp/"),
            ([("HmacOtp-Secret", "1234567890"), ("HmacOtp-Counter", "5")], "counter=5"),
        ])
    func oneTimePasswords(strings: [(String, String)], part: String) throws {
        let escaped = strings.map { ($0.0, $0.1.replacing("&", with: "&amp;")) }
        let entry = try KeePassSamples.entry([("Title", "My site"), ("UserName", "me"), ("Own", "x")] + escaped)
        let uri = try #require(entry.values(.otp).first)
        #expect(uri.contains(part) && uri.contains("secret=\(Self.key)"), "\(uri)")
        #expect(entry.fields.map(\.role) == [.username, .other, .otp] && entry.fields[2].isConcealed)
    }

    @Test(
        "a one-time password that does not fit stays as it is, concealed, and is said",
        arguments: [
            [("TOTP Seed", key), ("TOTP Settings", "30;S")], [("otp", "otpauth://totp/a?secret=\(key)&digits=5&encoder=steam")],
            [("TimeOtp-Secret", "a"), ("TimeOtp-Secret-Hex", "31")], [("TimeOtp-Secret", "a"), ("TimeOtp-Length", "12")],
            [("TimeOtp-Secret", "a"), ("TimeOtp-Algorithm", "MD5")], [("TOTP Seed", "1"), ("TOTP Settings", "30;6")],
            [("HmacOtp-Secret", "a")], [("otp", "key=1")], [("otp", "otpauth://totp/a?secret=\(key)&digits=10")],
            [("otp", "otpauth://totp/a?secret=\(key)&digits=6&encoder=steam")],
            [("otp", "otpauth://totp/a?encoder=steam&secret=\(key)")],
        ])
    func odd(strings: [(String, String)]) throws {
        let escaped = strings.map { ($0.0, $0.1.replacing("&", with: "&amp;")) }
        let entry = try KeePassSamples.entry(escaped)
        #expect(entry.values(.otp).isEmpty && entry.fields.map(\.name) == strings.map(\.0))
        #expect(entry.fields.map { text($0.value) } == strings.map(\.1) && entry.fields.allSatisfy { $0.isConcealed })
        #expect(entry.losses == [.member("one-time password of a kind that omvault does not have")])
    }

    @Test("a reference by UUID becomes the value, also over two entries; others stay, and are said")
    func references() throws {
        let ids = (1...4).map { [UInt8](repeating: UInt8($0), count: 16) }
        func reference(_ wanted: String, _ number: Int) -> String { "{REF:\(wanted)@I:\(Hex.encode(ids[number]).uppercased())}" }
        let fields: [[(String, String)]] = [
            [("Title", "one"), ("Password", "p1"), ("UserName", reference("T", 1).lowercased())],
            [
                ("Title", "two"), ("TOTP Seed", Self.key), ("Password", reference("P", 0).lowercased()),
                ("UserName", reference("U", 0)), ("Own", reference("P", 0)),
            ],
            [
                ("Title", "three"), ("Password", reference("P", 1)), ("Notes", "see \(reference("P", 0))"),
                ("UserName", "{REF:U@T:one}"),
            ],
            [("Title", "loop"), ("Password", reference("P", 3)), ("Notes", reference("N", 0))],
        ]
        let entries = zip(ids, fields).map { id, fields in
            let strings = fields.map { "<String><Key>\($0.0)</Key><Value>\($0.1)</Value></String>" }.joined()
            return "<Entry><UUID>\(Base64.encode(id))</UUID>\(strings)</Entry>"
        }
        let xml = Array("<KeePassFile><Root><Group>\(entries.joined())</Group></Root></KeePassFile>".utf8)
        let read = try KeePassXMLReader.read(xml.span).entries
        #expect(read[0].values(.username) == ["two"] && read[0].losses.isEmpty)
        #expect(read[1].values(.password) == ["p1"] && read[1].values(.username) == ["two"] && read[1].losses.isEmpty)
        #expect(read[1].values(.otp)[0].contains("/two:two?"))
        #expect(read[1].fields.first { $0.name == "Own" }?.isConcealed == true)
        #expect(read[2].values(.password) == ["p1"])
        #expect(read[2].values(.notes) == ["see \(reference("P", 0))"] && read[2].values(.username) == ["{REF:U@T:one}"])
        #expect(read[2].losses == [.member("reference in Notes"), .member("reference in UserName")])
        #expect(read[3].losses == [.member("reference in Password"), .member("reference in Notes")])
        var limits = KeePassLimits()
        limits.attachmentBytes = 4
        #expect(throws: InterchangeError.tooMuch("bytes of copied values")) {
            try KeePassXMLReader.read(xml.span, limits: limits)
        }
    }

    @Test("groups are folders, the recycle bin is none, and a group's own members are said")
    func groups() throws {
        func group(_ name: String, _ inside: String, id: String = "x") -> String {
            "<Group><UUID>\(id)</UUID><Name>\(name)</Name>\(inside)</Group>"
        }
        let xml = """
            <KeePassFile><Meta><RecycleBinUUID>bin</RecycleBinUUID><CustomIcons><Icon/><Icon/></CustomIcons>
            <CustomData><Item><Key>KPXC_X</Key><Value>1</Value></Item><Item><Key>own</Key><Value>1</Value></Item></CustomData></Meta>
            <Root>\(group("All", "<Entry/>" + group("a", "<Notes>n</Notes>" + group("b/c", "<Entry/>"))
                + group("Bin", "<Entry/>" + group("was", "<Entry/>"), id: "bin")))<DeletedObjects/></Root></KeePassFile>
            """
        let read = try KeePassXMLReader.read(Array(xml.utf8).span)
        #expect(read.entries.map(\.folders) == [[], ["a", "b/c"], [], ["was"]])
        #expect(read.entries.map(\.isTrashed) == [false, false, true, true])
        #expect(read.losses == [.member("CustomData/own"), .member("Notes of the group a"), .icon])
        let name = String(repeating: "é", count: 1_000)
        let own = """
            <IconID>49</IconID><Times><ExpiryTime>x</ExpiryTime><Expires>True</Expires></Times>
            <CustomData><Item><Key>1</Key></Item><Item><Key>2</Key></Item></CustomData>
            <Group><Name>in</Name><IconID>48</IconID><Times><Expires>False</Expires></Times></Group>
            """
        let other = Array("<KeePassFile><Root>\(group(name, own))</Root></KeePassFile>".utf8)
        let cut = name.prefix(100)
        #expect(
            try KeePassXMLReader.read(other.span).losses
                == [.member("CustomData of the group \(cut)"), .member("Expires of the group \(cut)")])
        let icon = Array("<KeePassFile><Root>\(group("g", "<IconID>1</IconID>"))</Root></KeePassFile>".utf8)
        #expect(try KeePassXMLReader.read(icon.span).losses == [.icon])
    }

    @Test("a list of tags is split at its two ASCII separators only")
    func tags() throws {
        let entry = try KeePassSamples.entry([], inEntry: "<Tags>a\u{37E}b;c\u{301};\u{301}d, ,</Tags>")
        #expect(entry.tags.map { Array($0.utf8) } == ["a\u{37E}b", "c\u{301}", "\u{301}d"].map { Array($0.utf8) })
    }

    @Test(
        "XML that is not KeePass's is refused",
        arguments: [
            ("<html/>", InterchangeError.otherFormat), ("{}", .damaged("its XML")), ("", .damaged("its XML")),
            ("<KeePassFile/>", .damaged("its root, which is missing")), ("<KeePassFile><Root>", .damaged("its XML")),
            (
                "<!DOCTYPE KeePassFile [<!ENTITY a \"b\">]><KeePassFile><Root><Group><Name>&a;</Name></Group></Root></KeePassFile>",
                .damaged("a document type, which the format does not have")
            ),
            ("<KeePassFile><Root><Group/><Group/></Root></KeePassFile>", .damaged("a second outermost group")),
            ("<KeePassFile><Root><Group/></Root><Root/></KeePassFile>", .damaged("a second root")),
            ("<KeePassFile><Root><Group/></Root><Meta/></KeePassFile>", .damaged("the order of its parts")),
            (
                "<KeePassFile><Root><Group><Entry/><Name>late</Name></Group></Root></KeePassFile>",
                .damaged("the order of its parts")
            ),
            (
                "<KeePassFile><Root><Group><Name>a<b/></Name></Group></Root></KeePassFile>",
                .damaged("a value with an element in it")
            ),
            (
                "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><KeePassFile><Root><Group/></Root></KeePassFile>",
                .damaged("the encoding of its XML, which is not UTF-8")
            ),
            (
                "<KeePassFile><Meta><Binaries><Binary ID=\"0\"/><Binary ID=\"0\"/></Binaries></Meta></KeePassFile>",
                .damaged("two attachments with one number")
            ),
            (
                "<KeePassFile><Meta><Binaries><Binary ID=\"0\">=</Binary></Binaries></Meta></KeePassFile>",
                .damaged("base64 in its XML")
            ),
            (String(repeating: "<KeePassFile>", count: 200), .tooMuch("levels of XML")),
            ("<KeePassFile><Root>" + String(repeating: "<Group>", count: 101), .tooMuch("levels of groups")),
        ])
    func refused(xml: String, error: InterchangeError) {
        #expect(throws: error) { try KeePassXMLReader.read(Array(xml.utf8).span) }
    }

    @Test("more entries, fields, tags or plug-ins' data than the limits are refused")
    func limits() throws {
        let old = "<History><Entry/><Entry/><Entry/></History>"
        let xml = KeePassSamples.xml([("a", ""), ("b", "")], inEntry: old)
        var limits = KeePassLimits()
        (limits.entries, limits.fields) = (1, 2)
        #expect(try KeePassXMLReader.read(xml.span, limits: limits).entries[0].losses == [.olderVersions(3)])
        limits.entries = 0
        #expect(throws: InterchangeError.tooMuch("entries")) { try KeePassXMLReader.read(xml.span, limits: limits) }
        (limits.entries, limits.fields) = (1, 1)
        let item = "<Item><Key>a</Key></Item>"
        for more in [
            "<String/><Binary/>", "<Tags>a;b</Tags>", "<Tags>; ;a;b;c</Tags>", "<CustomData>\(item)\(item)</CustomData>",
            "<A/><B/>",
        ] {
            let xml = KeePassSamples.xml([], inEntry: more)
            #expect(throws: InterchangeError.tooMuch("fields"), "\(more)") { try KeePassXMLReader.read(xml.span, limits: limits) }
        }
        for more in ["<CustomData>\(item)\(item)</CustomData>", "<CustomData>\(item)</CustomData><Notes>n</Notes>"] {
            let xml = Array("<KeePassFile><Root><Group>\(more)</Group></Root></KeePassFile>".utf8)
            #expect(throws: InterchangeError.tooMuch("fields"), "\(more)") { try KeePassXMLReader.read(xml.span, limits: limits) }
        }
        limits = KeePassLimits()
        limits.unpackedBytes = xml.count - 1
        #expect(throws: InterchangeError.tooMuch("bytes of XML")) { try KeePassXMLReader.read(xml.span, limits: limits) }
    }

    @Test("an export that is cut at any byte is refused")
    func cut() {
        let xml = KeePassSamples.xml([("Title", "t"), ("Password", "p")])
        for count in xml.indices {
            #expect(throws: InterchangeError.self, "\(count)") { try KeePassXMLReader.read(xml.span.extracting(first: count)) }
        }
    }
}
