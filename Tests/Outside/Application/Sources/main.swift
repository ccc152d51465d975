// Logs a user in with a cached credential and uses a vault, with public names only.

import OMAuth
import OMItems
import OMRecords
import OMSecrets
import OMStorage
import OMVault

func password(_ text: String) throws -> Password { try Password(SecretBytes(copying: Array(text.utf8))) }

func logIn(_ folder: String) throws {
    let authenticator = Authenticator(stateFolder: folder + "/logins", deviceFolder: folder + "/device")
    let profile = try Profile(
        ProfileName("work"), values: ["OfflineAuthAllowed": .bool(true), "MaxLoginAttempts": .number("2")])
    let ada = try UserName("ada")
    let enrolled = try authenticator.enroll(ada, profile, password: password("right"))
    print("enrolled \(enrolled.user.text)")
    let login = try authenticator.check(ada, profile, password: password("right"))
    print("granted \(login.user.text)")
    do {
        let login = try authenticator.check(ada, profile, password: password("wrong"))
        print("granted \(login.user.text)")
    } catch { print("refused \(error)") }
}

/// With the functions of docs/reference/library.md.
func useVault(_ folder: String) throws {
    let device = try DeviceFolder.make(folder + "/vault-device"), path = folder + "/personal.omv"
    let code = try makeVault(path, device: device, password("first"))
    let vault = try openVault(path, device: device, password("first"))
    let token = FieldPath(try ItemName("github"), try FieldName("token"))
    try add(SecretBytes(copying: Array("tok".utf8)), at: token, level: .whenUnlocked, in: vault)
    let pin = FieldPath(try ItemName("card"), try FieldName("pin"))
    try add(SecretBytes(copying: Array("1234".utf8)), at: pin, level: .highest, in: vault)
    print(try contents(vault).joined(separator: ", "))
    try changePassword(of: vault, to: password("second"))
    let backup = folder + "/personal.omvb"
    print("backed up \(try vault.backUp(to: backup, portable: false).itemCount)")
    _ = consume vault
    do { _ = try openVault(path, device: device, password("first")) } catch { print("refused \(error)") }
    print("logged \(try auditLines(path, device: device).count)")

    let other = try DeviceFolder.make(folder + "/other-device"), restored = folder + "/restored.omv"
    let report = try restoreVault(backup, to: restored, device: other, code, password("third"))
    print("lost \(report.lost.map(\.name.text))")
    let again = try openVault(restored, device: other, password("third"))
    print("read \(try again.secret(token).count) bytes")
}

try logIn(CommandLine.arguments[1])
try useVault(CommandLine.arguments[1])
