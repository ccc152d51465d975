// One step of a history of logins, in its own process that a test can kill. Started by Tests/OMAuthTests/FileSite.swift; it
// is part of no product.
//
//   login-worker STATE-FOLDER DEVICE-FOLDER WALL BOOT BOOT-NUMBER PROFILE check NET SERVER-PASSWORD POLICY|- MODE|- PASSWORD
//   login-worker … PROFILE login NET SERVER-PASSWORD POLICY|- MODE|- ANSWER|- WISH|-
//   login-worker … PROFILE end EVENT
//   login-worker … PROFILE remove
//
// A login prints its end, and the events of its refusals, one on each line.

import OMAuth
import OMOnlineModel
import OMSecrets
import OMSystem

@main
enum LoginWorker {
    static func main() {
        do { print(try carryOut(Array(CommandLine.arguments.dropFirst()))) } catch {
            print("failed \(error)")
        }
    }

    private static func carryOut(_ words: [String]) throws -> String {
        guard words.count >= 7, let wall = Int64(words[2]), let boot = Int64(words[3]), let number = UInt8(words[4]) else {
            throw Unknown(words: words)
        }
        let reading = ClockReading(wall: wall, sinceBoot: boot, bootID: [UInt8](repeating: number, count: 16))
        let authenticator = Authenticator(
            stateFolder: words[0], deviceFolder: words[1], parameters: .floor, clock: { reading })
        let profile = try profile(words[5]), user = try UserName("ada")
        switch (words[6], words.count) {
        case ("check", 12), ("login", 13): return try logIn(Array(words[6...]), authenticator, profile, user)
        case ("end", 8):
            guard let event = ClearingEvent(rawValue: words[7]) else { throw Unknown(words: words) }
            try authenticator.end(user, profile, after: event)
        case ("remove", 7): _ = try? authenticator.remove(user, profile.name, server: profile.serverIdentity)
        default: throw Unknown(words: words)
        }
        return "done"
    }

    private static func logIn(
        _ words: [String], _ authenticator: Authenticator, _ profile: Profile, _ user: UserName
    ) throws -> String {
        let mode = ConnectivityMode(rawValue: words[4])
        let server = Server(net: words[1], known: "password \(words[2])", policy: try ServerPolicy(words: words[3]))
        let person = Person(user, answer: words[5])
        var met: [AuthError] = []
        func said(_ mode: LoginDetails.Mode) -> String {
            switch mode {
            case .online(let reason): "online \(reason.map { "\($0)" } ?? "nil")"
            case .offline(let online): "offline \(online.map { "\($0)" } ?? "nil")"
            }
        }
        var line: String
        do throws(AuthError) {
            if words[0] == "check" {
                let request = LoginRequest(user, profile, mode: mode)
                line = said(try authenticator.login(request, password: password(words[5]), asking: server).details.mode)
            } else {
                let receipt = try authenticator.login(
                    profile, mode: mode, prompting: person, asking: server,
                    remembering: authenticator.deviceRememberingKey(), preferring: RememberPreferences(wish: words[6]))
                line = said(receipt.details.mode)
            }
        } catch {
            line = "refused \(error)"
            met = [error]
        }
        for error in person.told { line += ", after \(error)" }
        return ([line] + (person.told + met).compactMap { $0.clearing?.rawValue }).joined(separator: "\n")
    }

    /// `KEY=VALUE` pairs of numbers, words and truths, with commas between.
    private static func profile(_ text: String) throws -> Profile {
        var values: [String: ProfileValue] = [:]
        for pair in text.split(separator: ",") {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw Unknown(words: [text]) }
            values[parts[0]] =
                switch parts[1] {
                case "true": .bool(true)
                case "false": .bool(false)
                default: Int64(parts[1]) == nil ? .text(parts[1]) : .number(parts[1])
                }
        }
        return try Profile(ProfileName("work"), values: values)
    }
}

struct Unknown: Error { let words: [String] }

extension ServerPolicy {
    /// `EPOCH,LIMIT|-,ALLOWED|-`
    fileprivate init?(words text: String) throws {
        guard text != "-" else { return nil }
        let parts = text.split(separator: ",").map(String.init)
        guard parts.count == 3, let epoch = Int64(parts[0]) else { throw Unknown(words: [text]) }
        self.init(epoch: epoch, offlineAuthAllowed: Bool(parts[2]), maxLoginAttempts: Int(parts[1]))
    }
}

extension RememberPreferences {
    fileprivate init?(wish: String) {
        guard wish != "-" else { return nil }
        self.init(
            autoLogin: wish == "auto", credentials: wish == "auto" || wish == "credentials", userName: wish != "nothing")
    }
}

private func password(_ number: String) -> Password {
    do { return try Password(SecretBytes(copying: Array("password \(number)".utf8))) } catch {
        fatalError("not a password: \(error)")
    }
}

/// Answers once, and declines later questions.
private final class Person: LoginPrompter {
    private let user: UserName
    private var answer: String
    private(set) var told: [AuthError] = []

    init(_ user: UserName, answer: String) { (self.user, self.answer) = (user, answer) }

    func input(for prompt: LoginPrompt) -> LoginInput? {
        if let refusal = prompt.refusal { told.append(refusal) }
        defer { answer = "-" }
        switch answer {
        case "-": return nil
        case "remembered": return LoginInput(user, .remembered)
        default: return LoginInput(user, .typed(password(answer)))
        }
    }
}

private struct Server: Provider {
    let net: String
    let known: String
    let policy: ServerPolicy?

    func authenticate(
        _ login: ProviderQuestion, password: borrowing Password, asking: any LoginPrompter,
        cancellation: Cancellation
    ) -> ProviderAnswer {
        switch net {
        case "up":
            password.bytes.isEqual(to: SecretBytes(copying: Array(known.utf8)))
                ? .accepted(policy: policy, serverTime: nil, session: nil) : .refused(.rejected)
        case "blocked": .refused(.blocked)
        case "forbidden": .refused(.forbidden(.status))
        case "unreachable": .refused(.unreachable(.refused))
        case "late": .refused(.unreachable(.timedOut))
        case "untrusted": .refused(.untrusted(.certificate))
        case "failed": .refused(.failed(.serverError, status: 500))
        default: fatalError("no such net: \(net)")
        }
    }
}
