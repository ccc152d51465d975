import OMInterchange
import OMSecrets
import Testing

@Suite("CSV of browsers and password managers") struct CSVReaderTests {
    private static func lines(_ text: String) throws -> [String] { try ForeignSamples.read(text, as: .csv).lines }

    private static func map(_ text: String) -> CSVMap? { CSVMap(parsing: text.utf8Span.span) }

    @Test("the columns of each program go to their own parts of an entry")
    func programs() throws {
        #expect(
            try Self.lines("name,url,username,password,note\na,https://a.example,ada,tulip,n\n")
                == ["a | url=https://a.example | username=ada | password!=tulip | notes=n"], "Chrome")
        #expect(
            try Self.lines(
                "\"url\",\"username\",\"password\",\"httpRealm\",\"formActionOrigin\",\"guid\",\"timeCreated\"\n"
                    + "\"https://a.example\",\"ada\",\"tulip\",\"realm\",\"x\",\"{1}\",\"1\"\n")
                == [" | url=https://a.example | username=ada | password!=tulip | other httpRealm!=realm"], "Firefox")
        #expect(
            try Self.lines("Title,URL,Username,Password,Notes,OTPAuth\na,u,ada,tulip,,otpauth://totp/x?secret=MFRGG\n")
                == ["a | url=u | username=ada | password!=tulip | otp!=otpauth://totp/x?secret=MFRGG"], "Safari")
        #expect(
            try Self.lines(
                "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n"
                    + "Mail,1,login,a,,pin: 1,0,u,ada,tulip,\n,,note,b,text,,0,,,,\n")
                == [
                    "Mail/a | (login) | #favorite | other fields!=pin: 1 | url=u | username=ada | password!=tulip",
                    "b | (note) | notes=text",
                ], "Bitwarden")
        #expect(
            try Self.lines("url,username,password,totp,extra,name,grouping,fav\nhttp://sn,,,,text,memo,a\\b,0\n")
                == ["a/b/memo | (note) | notes=text"], "LastPass")
        #expect(
            try Self.lines(
                "\"Group\",\"Title\",\"Username\",\"Password\",\"URL\",\"Notes\",\"TOTP\",\"Icon\",\"Created\"\n"
                    + "\"Root/Mail\",\"a\",\"ada\",\"tulip\",\"u\",\"\",\"\",\"0\",\"2024\"\n")
                == ["Mail/a | username=ada | password!=tulip | url=u"], "KeePassXC")
        #expect(
            try Self.lines("username,username2,title,password,note,url,category,otpSecret\nada,eve,a,tulip,,u,Mail,\n")
                == ["Mail/a | username=ada | other username2!=eve | password!=tulip | url=u"], "Dashlane")
    }

    @Test("a bare secret of one-time passwords becomes an address, and what cannot be read stays as it is")
    func oneTime() throws {
        #expect(
            try Self.lines("name,totp\na,MFRG GZDF\nb,steam://ABC\nc,no secret!\n") == [
                "a | otp!=otpauth://totp/?secret=MFRGGZDF&algorithm=SHA1&digits=6&period=30", "b | otp!=steam://ABC",
                "c | otp!=no secret!",
            ])
    }

    @Test("a backslash, and a folder Root, mean what the program of the first line means")
    func dialects() throws {
        #expect(
            try Self.lines(
                "\"Account\",\"Login Name\",\"Password\",\"Web Site\",\"Comments\"\n"
                    + "\"a\",\"AD\\\\ada\",\"x\\\"y\\\\\",\"u\",\"1\n2\"\n")
                == ["a | username=AD\\ada | password!=x\"y\\ | url=u | notes=1\n2"], "KeePass 1")
        #expect(try Self.lines("title,password,folder\n\"a\",\"x\\\",Root/b\\c\n") == ["Root/b\\c/a | password!=x\\"])
    }

    @Test("what a map leaves out is told, and a map of another number of columns is refused without a value")
    func otherMaps() throws {
        func error(_ text: String, _ map: String) -> InterchangeError? {
            do { _ = try ForeignSamples.read(text, as: .csv, map: Self.map(map)) } catch { return error as? InterchangeError }
            return nil
        }
        for header in ["true", "false"] {
            let map = "{\"header\": \(header), \"columns\": [\"title\", \"password\", \"-\"]}"
            #expect(error("a,tulip\n", map) == .otherMap("the map has 3 columns, and the file's first line 2"))
            let read = try ForeignSamples.read("guid;x;Phone\na;tulip;1\n", as: .csv, map: Self.map(map))
            #expect(read.lines.last == "a | password!=tulip" && read.summary.map?.delimiter == UInt8(ascii: ";"))
            #expect(read.summary.losses == [.member(header == "true" ? "Phone" : "column 3")])
        }
        let rows = try ForeignSamples.read("title,password,\n,,\na,tulip,9\n", as: .csv)
        #expect(rows.lines == ["a | password!=tulip | other column 3!=9"] && rows.summary.losses.isEmpty)
    }

    @Test("quotes, line ends, marks and delimiters are read as RFC 4180 and spreadsheets write them")
    func forms() throws {
        #expect(
            try Self.lines("\u{FEFF}title;password\r\n\r\n\"a;\"\"b\"\"\";\"x\r\ny\"\r\nc;\r\n")
                == ["a;\"b\" | password!=x\r\ny", "c"])
        #expect(try Self.lines("title\tpassword\na\tb,c") == ["a | password!=b,c"])
        #expect(try Self.lines("title,password\na,b,more\n") == ["a | password!=b | other column 3!=more"])
        #expect(try Self.lines("title,name,password\na,b,c\n") == ["a | other name!=b | password!=c"])
    }

    @Test("what is no such file is refused, with the line and without a value")
    func refusals() throws {
        #expect(ForeignSamples.error("title,password\na,\"tulip", as: .csv) == .damaged("the quote that line 2 opens has no end"))
        #expect(ForeignSamples.error("title,password\na,\"tulip\"x\n", as: .csv) == .damaged("line 2 has text behind a quote"))
        #expect(ForeignSamples.error("", as: .csv) == .otherFormat)
        let wide = Array(repeating: "a", count: 257).joined(separator: ",")
        #expect(ForeignSamples.error(wide, as: .csv) == .tooMuch("columns"))
        guard case .unsupported(_, let remedy)? = ForeignSamples.error("x,y\n1,2\n", as: .csv) else {
            Issue.record("a file without a known column")
            return
        }
        #expect(remedy.contains("--map"))
        #expect(throws: InterchangeError.self) {
            try ForeignReader(SecretBytes(copying: Array("title,password\n".utf8) + [0xE9]), as: .csv).read(
                with: ForeignKey(password: nil), variables: { _ throws(InterchangeError) in throw .otherFormat }
            ) { _ in }
        }
    }

    @Test("a map says what the columns are, is written as it is read, and anything else is no map")
    func maps() throws {
        let text = "{\"delimiter\": \";\", \"header\": false, \"columns\": [\"title\", \"-\", \"field:PIN\"]}"
        let map = try #require(Self.map(text))
        #expect(map.text == text)
        let read = try ForeignSamples.read("a;b;1\n", as: .csv, map: map)
        #expect(read.lines == ["a | other PIN!=1"] && read.summary.map == map)
        let chosen = try ForeignSamples.read("name,guid,password\n", as: .csv).summary
        #expect(chosen.map?.text == "{\"delimiter\": \",\", \"header\": true, \"columns\": [\"title\", \"-\", \"password\"]}")
        #expect(chosen.losses == [.unneeded("guid")])
        for wrong in [
            "", "[]", "{}", "{\"columns\": []}", "{\"columns\": [\"-\"]}", "{\"columns\": [\"titel\"]}",
            "{\"columns\": [\"field:\"]}",
            "{\"columns\": [1]}", "{\"columns\": [\"title\"], \"delimiter\": \"|\"}", "{\"columns\": [\"title\"], \"header\": 1}",
            "{\"columns\": [\"title\"], \"more\": 1}",
            "{\"columns\": [\"title\", \"title\"]}", "{\"columns\": [\"folder\", \"url\", \"folder\"]}",
        ] { #expect(Self.map(wrong) == nil, "\(wrong)") }
    }
}
