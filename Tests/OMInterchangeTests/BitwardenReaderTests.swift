import Foundation
import OMInterchange
import OMSecrets
import TestSupport
import Testing

@Suite("Bitwarden's JSON") struct BitwardenReaderTests {
    private static func export(_ items: String, _ more: String = "") -> String {
        "{\"encrypted\":false,\"folders\":[{\"id\":\"f\",\"name\":\"Work/Mail\"}],"
            + "\"collections\":[{\"id\":\"c\",\"name\":\"Team\"},{\"id\":\"d\",\"name\":\"All\"}],\"items\":[\(items)]\(more)}"
    }

    @Test("each type of item has its own fields, and nothing of it is lost in silence")
    func types() throws {
        let login = """
            {"id":"1","type":1,"name":"a","folderId":"f","favorite":true,"archivedDate":"2025","notes":"n\\u0065","reprompt":1,
            "login":{"username":"ada","password":"tulip","totp":"MFRGG","uris":[{"uri":"u1","match":1},{"uri":"u2","match":null}],
            "fido2Credentials":[{"keyValue":"k"}],"later":"x"},"passwordHistory":[{"password":"old"}],
            "fields":[{"name":"pin","value":"1","type":1},{"name":"on","value":"true","type":2},{"name":"l","type":3,"linkedId":1}]}
            """
        let card = """
            {"type":3,"name":"c","collectionIds":["c","d"],"card":{"cardholderName":"Ada","brand":"Visa","number":"4111",\
            "expMonth":"3","expYear":"2030","code":"7"}}
            """
        let identity = """
            {"type":4,"name":"i","deletedDate":"2024-01-01","identity":{"title":"Dr","firstName":"Ada","lastName":"L","address1":"s",\
            "city":"t","email":"a@x","phone":"5","username":"ada","ssn":"9"}}
            """
        let key = "{\"type\":5,\"name\":\"k\",\"sshKey\":{\"privateKey\":\"p\",\"publicKey\":\"q\",\"keyFingerprint\":\"r\"}}"
        let read = try ForeignSamples.read(Self.export([login, card, identity, key].joined(separator: ","), ",\"more\":1"))
        #expect(
            read.lines == [
                "Work/Mail/a | (login) | #favorite | #archived | username=ada | password!=tulip | url=u1 | url=u2 | "
                    + "otp!=otpauth://totp/?secret=MFRGG&algorithm=SHA1&digits=6&period=30 | other later!=x | notes=ne | "
                    + "other pin!=1 | other on=true | -member(\"match\") | -member(\"passkey\") | -member(\"linked field l\") | "
                    + "-olderVersions(1) | -member(\"reprompt\")",
                "Team/c | (card) | #All | other number!=4111 | other holder=Ada | other expires=3/2030 | other code!=7 | "
                    + "other brand=Visa",
                "i | (identity) | (trash) | other name=Dr Ada L | other address=s\nt | email=a@x | other phone=5 | username=ada | "
                    + "other ssn!=9",
                "k | (ssh-key) | other private-key!=p | other public-key=q | other keyFingerprint!=r",
            ])
        #expect(read.summary.losses == [.member("more")])
    }

    @Test("numbers, objects in the place of texts, and types that are not known yet, are taken over or told")
    func unusual() throws {
        let items = [
            "{\"type\":3,\"name\":\"c\",\"card\":{\"expMonth\":3,\"expYear\":2030,\"number\":{\"x\":1}}}",
            "{\"type\":9,\"name\":\"n\",\"login\":{\"username\":\"ada\",\"password\":\"tulip\"},"
                + "\"fields\":[{\"name\":\"f\",\"type\":1,\"value\":{\"x\":1}}]}",
        ]
        let read = try ForeignSamples.read(Self.export(items.joined(separator: ",")))
        #expect(
            read.lines == [
                "c | (card) | other expires=3/2030 | -member(\"number\")",
                "n | username=ada | password!=tulip | other f!= | -member(\"type\") | -member(\"field f\")",
            ])
    }

    @Test("the files of Bitwarden's own test are read, the encrypted one with its password alone")
    func fixtures() throws {
        guard let folder = Fixtures.folder?.appending(path: "import") else { return }
        let plain = try String(contentsOf: folder.appending(path: "bitwarden_export.json"), encoding: .utf8)
        let lines = try ForeignSamples.read(plain).lines
        #expect(lines.count == 4 && lines[0].hasPrefix("My Folder/My Secure Note | (note)"))
        let sealed = try String(contentsOf: folder.appending(path: "bitwarden_encrypted_export.json"), encoding: .utf8)
        #expect(ForeignSamples.error(sealed) == .needsPassword && ForeignSamples.error(sealed, password: "b") == .wrongKey)
        #expect(try ForeignSamples.read(sealed, password: "a").lines.count == 1)
        // One changed character of the sealed data.
        let mark = try #require(sealed.range(of: "|216xw4"))
        let changed = sealed.replacingCharacters(in: mark, with: "|316xw4")
        #expect(ForeignSamples.error(changed, password: "a") == .damaged("the check value of the data"))
        // Attack: the file asks for a day of work.
        let slow = sealed.replacingOccurrences(of: "\"kdfIterations\": 100000", with: "\"kdfIterations\": 900000000")
        #expect(slow != sealed && ForeignSamples.error(slow, password: "a") == .tooMuch("work for one password"))
    }

    @Test("what is no export is refused")
    func refusals() {
        #expect(ForeignSamples.error("{}") == .otherFormat)
        #expect(ForeignSamples.error("{\"items\":{}}") == .otherFormat)
        #expect(ForeignSamples.error("{\"items\":[1]}") == .damaged("not JSON at byte 11: no object in a list of objects"))
        guard case .damaged? = ForeignSamples.error("{\"items\":[{}") else {
            Issue.record("a cut file")
            return
        }
        guard case .unsupported? = ForeignSamples.error("{\"encrypted\":true,\"data\":\"2.a\"}", password: "a") else {
            Issue.record("an export that only its account opens")
            return
        }
    }
}
