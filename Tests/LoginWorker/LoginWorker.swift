// One step of a history of logins, in a process of its own that can be killed. Started by Tests/OMAuthTests/FileSite.swift; it
// is part of no product.
//
//   login-worker STATE-FOLDER DEVICE-FOLDER WALL BOOT BOOT-NUMBER PROFILE login MODE PASSWORD NET SERVER-PASSWORD POLICY|-
//   login-worker … PROFILE logout|clear|remove

import OMAuth
import OMRecords
import OMSecrets
import OMStorage

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
        case ("login", 12): return try logIn(Array(words[7...]), authenticator, profile, user)
        case ("logout", 7): try authenticator.end(user, profile, after: .logout)
        case ("clear", 7): try authenticator.end(user, profile, after: .logoutClear)
        case ("remove", 7): _ = try? authenticator.remove(user, profile.name, server: profile.serverIdentity)
        default: throw Unknown(words: words)
        }
        return "done"
    }

    private static func logIn(
        _ words: [String], _ authenticator: Authenticator, _ profile: Profile, _ user: UserName
    ) throws -> String {
        guard let mode = ConnectivityMode(rawValue: words[0]), let typed = Int(words[1]), let known = Int(words[3]) else {
            throw Unknown(words: words)
        }
        let password = try Password(SecretBytes(copying: Array("password \(typed)".utf8)))
        let server = Server(answer: try answer(words[2], typed == known, words[4]))
        do throws(AuthError) {
            let receipt = try authenticator.login(
                LoginRequest(user, profile, mode: mode), password: password, asking: server)
            switch receipt.context.way {
            case .online(let reason): return "online \(reason.map { "\($0)" } ?? "nil")"
            case .offline(let online): return "offline \(online.map { "\($0)" } ?? "nil")"
            }
        } catch { return "refused \(error)" }
    }

    private static func answer(_ net: String, _ isRight: Bool, _ policy: String) throws -> Server.Answer {
        switch net {
        case "up": isRight ? .yes(try ServerPolicy(epochLimitAllowed: policy)) : .no(.rejected)
        case "blocked": .no(.blocked)
        case "forbidden": .no(.forbidden(.status))
        case "unreachable": .no(.unreachable(.refused))
        case "untrusted": .no(.untrusted(.certificate))
        case "failed": .no(.failed(.serverError, status: 500))
        default: throw Unknown(words: [net])
        }
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
    fileprivate init?(epochLimitAllowed text: String) throws {
        guard text != "-" else { return nil }
        let parts = text.split(separator: ",").map(String.init)
        guard parts.count == 3, let epoch = Int64(parts[0]) else { throw Unknown(words: [text]) }
        self.init(epoch: epoch, offlineAuthAllowed: Bool(parts[2]), maxLoginAttempts: Int(parts[1]))
    }
}

private struct Server: Provider {
    enum Answer: Sendable {
        case yes(ServerPolicy?)
        case no(OnlineRefusal)
    }

    let answer: Answer

    func authenticate(
        _ login: ProviderQuestion, password: borrowing Password, asking: any CredentialCollector,
        cancellation: Cancellation
    ) -> ProviderAnswer {
        switch answer {
        case .yes(let policy): .accepted(policy: policy, serverTime: nil, session: nil)
        case .no(let refusal): .refused(refusal)
        }
    }
}
