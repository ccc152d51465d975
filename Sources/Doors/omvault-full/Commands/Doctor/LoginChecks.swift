// The checks of cached logins and profiles.

internal import OMAuth
internal import OMShell
internal import OMSystem

struct LoginChecks {
    private let access: LoginAccess

    /// - Parameter access: Of the user, or of the system store.
    init(_ access: LoginAccess) { self.access = access }

    static func ofUser(_ context: CommandContext, _ folders: UserFolders) -> [Diagnosis] {
        do throws(Failure) { return LoginChecks(try LoginAccess(context)).all() } catch {
            // The administrator's policy cannot be read, so no profile is used.
            return [.failed("profiles", error)]
        }
    }

    func all() -> [Diagnosis] {
        let (profiles, found) = readProfiles()
        return found + readLedger(profiles) + damagedLedgers()
    }

    private func readProfiles() -> ([Profile], [Diagnosis]) {
        let names: [ProfileName]
        do throws(AuthError) { names = try access.profiles.names() } catch { return ([], [.failed("profiles", Failure(error))]) }
        guard !names.isEmpty else { return ([], [.ok("profiles", "none")]) }
        var (profiles, found): ([Profile], [Diagnosis]) = ([], [])
        for name in names {
            do throws(AuthError) {
                let profile = try access.profiles.profile(name)
                profiles.append(profile)
                found += check(profile)
            } catch { found.append(.failed("profile \(name.text)", Failure(error))) }
        }
        return (profiles, found)
    }

    private func check(_ profile: Profile) -> [Diagnosis] {
        let check = "profile \(profile.name.text)"
        func change(_ key: String) -> String {
            let value = key == ProfileKey.openIDConnectConfiguration.rawValue ? "\"$(cat FILE)\"" : "https://…"
            return "omvault profile set \(profile.name.text.asShellWord) \(key)=\(value)\(access.systemOption)"
        }
        var found = profile.unprotected.map { key in
            Diagnosis.problem(
                check, "\(key.rawValue) is http to another machine, so logins that need it are refused",
                next: change(key.rawValue))
        }
        if profile.couldAnyUserBeServer {
            // Only the system store asks on behalf of other users.
            found.append(
                Diagnosis(
                    check: check, grade: access.isSystem ? .problem : .warning, found: profile.openServerWords,
                    next: change("KEY")))
        }
        if let problem = profile.trustProblem {
            found.append(
                .problem(
                    check, "\(problem): no login asks the server",
                    next: "only you or root may be able to change the file and its folder"))
        }
        return found.isEmpty ? [.ok(check, "it can be read")] : found
    }

    private func readLedger(_ profiles: [Profile]) -> [Diagnosis] {
        let check = "logins"
        let logins: [LoginStatus]
        do throws(AuthError) { logins = try access.authenticator().inspect(profiles) } catch {
            return [.failed(check, Failure(error))]
        }
        var found: [Diagnosis] = logins.compactMap { login in
            let name = "login \(login.user?.text ?? "?")"
            if login.details?.clockIsBehind == true {
                return .warning(name, "the clock is behind the time of its last login", next: "set the clock: timedatectl")
            }
            switch login.refusal {
            // Its profile was removed or has another name; or it was wiped or locked, as its policy says.
            case .quarantined?, .rolledBack?, .otherDeviceKey?, .deviceKeyMissing?:
                return login.refusal.map { .failed(name, Failure($0)) }
            default: return nil
            }
        }
        do throws(AuthError) {
            if let fault = try access.authenticator().log().fault {
                found.append(
                    .problem(
                        check, "the log of logins is broken: \(fault.words)",
                        next: "omvault log verify --logins\(access.systemOption)"))
            }
        } catch { found.append(.failed(check, Failure(error))) }
        guard found.isEmpty else { return found }
        let words = "\(logins.count.of("cached login")), all as this device wrote them"
        return [.ok(check, logins.isEmpty ? "none is cached" : words)]
    }

    private func damagedLedgers() -> [Diagnosis] {
        access.damagedLedgers().map { path in
            .warning("logins", "a damaged ledger was set aside: \(path)", next: "look into it, then rm \(path.asShellWord)*")
        }
    }
}
