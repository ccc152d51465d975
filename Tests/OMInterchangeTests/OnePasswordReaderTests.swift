import Foundation
import OMItems
import OMSecrets
import TestSupport
import Testing

@testable import OMInterchange

@Suite("1Password's 1PUX") struct OnePasswordReaderTests {
    /// Archives by their names, made once by Python's `zipfile`.
    private static let made = Task { () async throws -> [String: [UInt8]] in
        let folder = try TestFolder()
        let ran = try await run(["/usr/bin/python3", "-c", script], in: folder, environment: ["PATH": "/usr/bin:/bin"])
        try #require(ran.status == 0, "\(ran.errors)")
        var made: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".1pux") {
            made[String(name.dropLast(5))] = [UInt8](try Data(contentsOf: folder.url.appending(path: name)))
        }
        return made
    }

    private static let script = #"""
        import json, warnings, zipfile
        warnings.simplefilter("ignore")
        ATTRIBUTES = '{"version":3,"description":"1Password Unencrypted Export","timestamp":1}'
        def field(title, value, id="f"): return {"title": title, "id": id, "value": value, "guarded": False}
        ITEMS = [
            {"uuid": "1", "favIndex": 1, "createdAt": 5, "state": "active", "categoryUuid": "001",
             "details": {"loginFields": [
                 {"value": "ada", "name": "user", "fieldType": "T", "designation": "username"},
                 {"value": "tulip", "name": "pw", "fieldType": "P", "designation": "password"},
                 {"value": "7", "name": "", "id": "pin", "fieldType": "P"}],
                 "notesPlain": "n\nm", "passwordHistory": [{"value": "old", "time": 1}],
                 "sections": [
                     {"title": "One", "name": "s1", "fields": [field("key", {"concealed": "c1"}), field("t", {"totp": "MFRGG"})]},
                     {"title": "Two", "name": "s2", "fields": [
                         field("key", {"concealed": "c2"}), field("w", {"string": "s"}), field("none", {"string": ""}),
                         field("mail", {"email": {"email_address": "a@x", "provider": "p"}}),
                         field("born", {"date": 1451649660}), field("until", {"monthYear": 203004}),
                         field("home", {"address": {"street": "S 1", "city": "C", "country": "us", "zip": "9", "state": "MA", "more": "q"}}),
                         field("scan", {"file": {"fileName": "s.txt", "documentId": "d1", "decryptedSize": 3}}),
                         field("gone", {"file": {"fileName": "g.txt", "documentId": "d9", "decryptedSize": 3}}),
                         field("link", {"reference": "uuid"}), field("later", {"new": {"a": "b", "c": ["d", 5]}})]}]},
             "overview": {"title": "web", "url": "https://x", "urls": [{"label": "website", "url": "https://x"}, {"label": "admin", "url": "https://y"},
                                   {"label": "boss", "url": "https://y", "kind": "k"}],
                          "tags": ["t1"], "ps": 3, "subtitle": "sub", "passkey": {"x": 1}}},
            {"uuid": "2", "state": "archived", "categoryUuid": "002", "details": {"sections": [{"title": "", "fields": [
                field("cardholder name", {"string": "Ada"}, "cardholder"), field("number", {"creditCardNumber": "4111"}, "ccnum"),
                field("expiry date", {"monthYear": 203012}, "expiry"), field("verification number", {"concealed": "9"}, "cvv")]}]},
             "overview": {"title": "card"}},
            {"uuid": "3", "categoryUuid": "114", "details": {"sections": [{"title": "", "fields": [
                field("private key", {"sshKey": {"privateKey": "PK", "metadata": {"privateKey": "PK", "publicKey": "ssh-ed25519 A",
                      "fingerprint": "SHA256:x", "keyType": {"t": "ed25519"}}}}, "private_key")]}]}, "overview": {"title": "key"}},
            {"uuid": "4", "categoryUuid": "006", "trashed": True, "details": {
                "documentAttributes": {"fileName": "d.bin", "documentId": "d2", "decryptedSize": 4}}, "overview": {"title": "doc"}},
            {"uuid": "5", "categoryUuid": "999", "details": {"password": "rose"}, "overview": {"title": "x"}, "newer": 1},
            {"uuid": "6", "categoryUuid": "101", "details": {}, "overview": {"title": "bank"}},
            {"uuid": "7", "categoryUuid": "005", "overview": {"title": "codes"}, "details": {"sections": [
                {"title": "Production", "name": "p", "color": "red", "fields": [field("token", {"concealed": "c1"}),
                    field("root code", {"totp": "MFRGG"}), {**field("recovery mail", {"email": "r@x"}), "newer": 1}]},
                {"title": "Staging", "name": "s", "fields": [field("key", {"concealed": "c2"}), field("admin code", {"totp": "MFRGG"}),
                    field("billing mail", {"email": "b@x"})]}]}},
            {"item": {"uuid": "8", "categoryUuid": "006", "overview": {"title": "film"}, "details": {}},
             "file": {"attrs": {"uuid": "A", "name": "My movie.mp4", "type": "video/mp4"}, "path": "files/A"}},
        ]
        def data(items, vaults=1):
            attrs = lambda i: {"uuid": "v", "desc": "", "avatar": "", "name": "Vault %d" % i, "type": "P"}
            return json.dumps({"accounts": [{"attrs": {"name": "Acc", "uuid": "a"},
                "vaults": [{"attrs": attrs(i), "items": items} for i in range(vaults)]}]})
        def make(name, files, method=zipfile.ZIP_DEFLATED):
            with zipfile.ZipFile(name + ".1pux", "w", method) as z:
                for path, content in files: z.writestr(path, content)
        FILES = [("files/", ""), ("files/d1__s.txt", "abc"), ("files/d2__d.bin", b"\xff\0\1\2"), ("files/other.png", "pic"),
                 ("files/A", "film")]
        for name, method in (("whole", zipfile.ZIP_DEFLATED), ("stored", zipfile.ZIP_STORED)):
            make(name, [("export.attributes", ATTRIBUTES), ("export.data", data(ITEMS)), *FILES], method)
        login = ITEMS[4:5]
        make("two", [("export.data", data(login, 2))])
        make("other", [("readme.txt", "x")])
        make("empty", [("export.attributes", ATTRIBUTES)])
        make("text", [("export.data", "no JSON")])
        make("list", [("export.data", "[]")])
        make("twice", [("export.data", data(login)), ("export.data", data(ITEMS))])
        make("path", [("export.data", data(login)), ("../../evil", "x"), ("/etc/evil", "x")])
        make("bomb", [("export.data", " " * (8 << 20))])
        make("lzma", [("export.data", data(login))], zipfile.ZIP_LZMA)
        one = {"fileName": "f", "documentId": "f1", "decryptedSize": 1}
        large = {"categoryUuid": "001", "overview": {"title": "b"}, "details": {"documentAttributes": one}}
        make("large", [("export.data", data([large])), ("files/f1__f", b"\0" * (65 << 20))])
        whole = open("stored.1pux", "rb").read()
        open("cut.1pux", "wb").write(whole[:-30])
        place = whole.index(b'"tulip"')
        open("changed.1pux", "wb").write(whole[:place] + b'"rosey"' + whole[place + 7:])
        # The flag of encryption, in the local header and in the directory.
        sealed = bytearray(open("two.1pux", "rb").read())
        sealed[6] |= 1
        sealed[sealed.index(b"PK\1\2") + 8] |= 1
        open("sealed.1pux", "wb").write(sealed)
        """#

    private static func read(_ bytes: [UInt8]) throws -> (lines: [String], summary: ForeignSummary) {
        let reader = try ForeignReader(SecretBytes(copying: bytes), as: nil)
        #expect(reader.format == .onePassword)
        var lines: [String] = []
        let summary = try reader.read(
            with: ForeignKey(password: nil), variables: { _ throws(InterchangeError) in throw .otherFormat }
        ) { entry throws(InterchangeError) in lines.append(ForeignSamples.line(entry)) }
        return (lines, summary)
    }

    private static func read(_ name: String) async throws -> (lines: [String], summary: ForeignSummary) {
        try read(try #require(await made.value[name]))
    }

    @Test("each category and each kind of value has its place, and nothing is lost in silence")
    func kinds() async throws {
        for name in ["whole", "stored"] {
            let read = try await Self.read(name)
            #expect(
                read.lines == [
                    "web | (login) | #t1 | #favorite | username=ada | password!=tulip | other pin!=7 | notes!=n\nm | url=https://x | "
                        + "other admin=https://y | other boss=https://y | other One key!=c1 | "
                        + "otp!=otpauth://totp/?secret=MFRGG&algorithm=SHA1&digits=6&period=30 | other Two key!=c2 | other Two w=s | "
                        + "email=a@x | other Two mail provider!=p | other Two born=2016-01-01 | other Two until=2030-04 | "
                        + "other Two home=S 1\n9\nC\nMA\nus | other Two home more!=q | attachment s.txt!=abc | "
                        + "other Two later a!=b | other Two later c!=d | other Two later c!=5 | -olderVersions(1) | "
                        + "-member(\"kind of an address\") | -member(\"the name \\\"One t\\\" of a field\") | "
                        + "-member(\"the name \\\"Two mail\\\" of a field\") | -member(\"link Two link\") | -member(\"passkey\") | -attachment(\"g.txt\")",
                    "card | (card) | #archived | other holder=Ada | other number!=4111 | other expires=2030-12 | other code!=9",
                    "key | (ssh-key) | other private-key!=PK | other public-key=ssh-ed25519 A | -unneeded(\"fingerprint\") | "
                        + "-unneeded(\"keyType\")",
                    "doc | (file) | (trash) | attachment d.bin!=\u{FFFD}\0\u{1}\u{2}",
                    "x | password!=rose | -member(\"category 999\") | -member(\"newer\")",
                    "bank | (custom) | #bank account",
                    "codes | (login) | other Production token!=c1 | "
                        + "otp!=otpauth://totp/?secret=MFRGG&algorithm=SHA1&digits=6&period=30 | email=r@x | other Staging key!=c2 | "
                        + "other Staging admin code!=otpauth://totp/?secret=MFRGG&algorithm=SHA1&digits=6&period=30 | "
                        + "other Staging billing mail=b@x | -member(\"the name \\\"Production root code\\\" of a field\") | "
                        + "-member(\"the name \\\"Production recovery mail\\\" of a field\") | -member(\"newer of a field\") | "
                        + "-member(\"color of a section\")",
                    "film | (file) | attachment My movie.mp4!=film",
                ])
            #expect(read.summary.losses == [.attachment("files/other.png")])
        }
        let two = try await Self.read("two")
        #expect(two.lines.map { $0.prefix(9) } == ["Vault 0/x", "Vault 1/x"])
    }

    @Test("a ZIP file that is cut, changed, encrypted or of another program is refused, and no name in it is a path")
    func refusals() async throws {
        func error(_ name: String) async throws -> InterchangeError? {
            do { _ = try await Self.read(name) } catch { return error as? InterchangeError }
            return nil
        }
        let other = try await error("other"), sealed = try await error("sealed"), text = try await error("text")
        guard case .unsupported? = other, case .unsupported? = sealed, case .damaged? = text else {
            Issue.record("\(String(describing: (other, sealed, text)))")
            return
        }
        #expect(try await error("empty") == .damaged("export.data is missing in it"))
        #expect(try await error("list") == .damaged("export.data has no accounts"))
        #expect(try await error("twice") == .damaged("two files of one name in the ZIP file"))
        #expect(try await error("cut") == .damaged("the directory of the ZIP file"))
        #expect(try await error("changed") == .damaged("\"export.data\" in the ZIP file"))
        let path = try await Self.read("path")
        #expect(path.lines.count == 1 && path.summary.losses == [.attachment("../../evil"), .attachment("/etc/evil")])
    }

    @Test("a file that unpacks to more than its bound is refused, and so is one that is read again and again")
    func bombs() async throws {
        let bomb = try #require(await Self.made.value["bomb"])
        #expect(bomb.count < 64 << 10)
        let archive = try ZipArchive(SecretBytes(copying: bomb), atMost: 20 << 20)
        #expect(throws: InterchangeError.tooMuch("unpacked bytes")) {
            _ = try archive.read("export.data", atMost: (8 << 20) - 1).count
        }
        // The first reading has ended at its bound, and counts.
        let count = try archive.read("export.data", atMost: 8 << 20).count
        #expect(count == 8 << 20)
        #expect(throws: InterchangeError.tooMuch("unpacked bytes")) {
            _ = try archive.read("export.data", atMost: 8 << 20).count
        }
        #expect(try await Self.read("large").lines == ["b | (login) | -attachment(\"f\")"])
    }

    // MARK: - A file of 1Password

    /// What means something to 1Password alone, or is told in the report by its name.
    private static let skipped: Set<String> = [
        "uuid", "id", "name", "inputTraits", "categoryUuid", "state", "fieldType", "designation", "subtitle", "label",
        "documentId",
        "clipboardFilter", "avatar", "type", "attrs", "watchtowerExclusions",
    ]

    private static func texts(_ value: Any) -> [String] {
        switch value {
        case let text as String: return text.isEmpty ? [] : [text]
        case let list as [Any]: return list.flatMap(texts)
        case let object as [String: Any]: return object.filter { !skipped.contains($0.key) }.values.flatMap(texts)
        default: return []
        }
    }

    @Test("each text in a file of 1Password is in an item or in the report")
    func fixture() async throws {
        guard let fixtures = Fixtures.folder else { return }
        let file = fixtures.appending(path: "import/1PasswordExport.1pux")
        let read = try Self.read([UInt8](try Data(contentsOf: file)))
        #expect(read.lines.count == 9 && read.lines[0].hasPrefix("Personal/Login | (login) | #website | #favorite | "))
        let folder = try TestFolder()
        let ran = try await run(
            [
                "/usr/bin/python3", "-c", "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read('export.data').decode())",
                file.path,
            ], in: folder, environment: ["PATH": "/usr/bin:/bin"])
        let texts = Self.texts(try JSONSerialization.jsonObject(with: Data(ran.output.utf8)))
        #expect(texts.count > 50)
        // The titles of fields without a value say nothing.
        let all = read.lines.joined(separator: "\n")
        let titles = Set(texts.filter { ran.output.contains("\"title\": \"\($0)\"") })
        for text in texts where !titles.contains(text) { #expect(all.contains(text), "\(text)") }
        for day in ["2016-01-01", "2022-06"] { #expect(all.contains(day)) }
        #expect(read.summary.losses == [.member("description of a vault"), .unneeded("picture of a vault")])
    }
}
