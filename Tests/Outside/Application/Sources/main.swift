// Logs a user in with a cached credential, with what the package makes public.

import OMAuth
import OMSecrets

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

try logIn(CommandLine.arguments[1])
