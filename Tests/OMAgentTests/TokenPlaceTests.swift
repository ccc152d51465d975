// Each place of tokens in the same agent, in the next one and after a reboot, at each level and in each state of the vault, under
// each TokenRelease: docs/reference/tokens.md, "Where it is".

import OMAuth
import OMOnlineModel
import OMRecords
import OMSecrets
import OMSystem
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMAuth

@Suite("The places of tokens", .onOwnThreads) struct TokenPlaceTests {
    private enum Place: CaseIterable {
        case memory, ticket, ledger
    }

    private enum VaultState: CaseIterable {
        case open, lockedAgain, neverOpened
    }

    private enum Moment: CaseIterable {
        case sameAgent, nextAgent, afterReboot
    }

    /// One profile: its place, its level and its TokenRelease.
    private struct Cell {
        let place: Place
        let profile: Profile
        let login: LoginReference

        init(_ place: Place, _ level: String, _ release: TokenRelease, _ number: Int, _ home: AgentHome) throws {
            self.place = place
            profile = try Profile(
                ProfileName("p\(number)"),
                values: [
                    "AuthServerType": .text("OAuthAuthentication"), "OAuthAuthZGrantType": .text("OAuthResourceOwner"),
                    "OAuthTokenEndpoint": .text("https://login.example/token"), "OAuthClientID": .text("robot"),
                    "SessionActiveOnRestart": .bool(place == .ticket), "RememberTokens": .bool(place == .ledger),
                    "KeychainDataProtection": .text(level), "TokenRelease": .text(release.rawValue),
                ])
            let key = LoginKey(try UserName("ada"), profile)
            // Tickets have their secrets in the user's keyring, under the digest of the login. The folder makes it this test's own.
            login = try #require(LoginReference(state: home.root + "/state", device: home.root + "/device", key: key))
        }

        /// Whether its token is there. What the level says counts for the ledger only.
        func isKept(_ moment: Moment, _ state: VaultState) -> Bool {
            switch (place, moment) {
            case (_, .sameAgent), (.ticket, .nextAgent): true
            case (.memory, _), (.ticket, .afterReboot): false
            case (.ledger, _):
                switch profile.level.availability {
                case .always: true
                case .afterFirstUnlock: state != .neverOpened
                case .whenUnlocked: state == .open
                }
            }
        }

        /// What a program gets without and with a person who agrees.
        func told(_ moment: Moment, _ state: VaultState) -> [String] {
            let token = "at [a] endless good"
            guard isKept(moment, state) else { return ["none", "none"] }
            return switch profile.tokenRelease {
            case .never: ["never", "never"]
            case .confirm: ["unconfirmed", token]
            case .allow: [token, token]
            }
        }

        /// The session of its login, with the row that the ledger has of it.
        func session(_ row: consuming SessionRowKey? = nil) throws -> NewSession {
            var kept = try keptSession(
                login, token: "rt", survives: place == .ticket, access: "at", scopes: ["a"], release: profile.tokenRelease)
            kept.row = row
            return kept
        }

        /// The row of a login in the ledger.
        func remember(_ logins: Authenticator, _ key: RememberingKey) throws -> SessionRowKey? {
            let now = ClockReading.now()
            let answer = ProviderAnswer.accepted(
                policy: nil, serverTime: nil, session: bytes("rt"), access: token("at", ["a"]), lifetime: nil)
            guard let accepted = AcceptedAnswer(answer, sent: now) else { return nil }
            let request = LoginRequest(login.key.user, profile, domain: .none, mode: .online)
            let receipt = LoginReceipt(online: accepted, notCached: .offlineNotAllowed, ReceiptNotes(), request, now)
            return try logins.rememberSession(receipt, profile, key: key)
        }
    }

    private static let levels = ["WhenUnlocked", "AfterFirstUnlock", "Always"].flatMap { name in
        ["KeychainDataAccessible\(name)", "KeychainDataAccessible\(name)ThisDeviceOnly"]
    }

    /// The key of a level now. Nil while it is locked.
    private func key(of level: ProtectionLevel, _ home: AgentHome, _ logins: Authenticator) throws -> RememberingKey? {
        guard level.availability != .always else { return try logins.makeDeviceRememberingKey() }
        guard let key = try home.client.rememberingKey(home.paths, of: level) else { return nil }
        return RememberingKey(key)
    }

    private func store(_ tickets: SessionTickets, at clock: ClockReading) -> SessionStore {
        SessionStore(
            tickets, ask: { (_: consuming OnlineQuestion) in .refused(.failed(.helper)) }, clear: { _, _ in }, clock: { clock })
    }

    /// What the ledger has of a session. What it gives goes into the store.
    private func restore(_ cell: Cell, into store: SessionStore, _ logins: Authenticator, _ key: RememberingKey?) throws -> String
    {
        switch try logins.rememberedSession(cell.login.key, cell.profile, key: key) {
        case .none: return "none"
        case .locked: return "locked"
        case .otherKey: return "other key"
        case .live(_, let row, _, let since): return "\(store.restore(try cell.session(row), since: since))"
        }
    }

    @Test(
        "each place of tokens keeps them over another agent and a reboot as its level says, and gives them as TokenRelease says")
    func cells() throws {
        let home = try AgentHome(in: "/dev/shm"), runtime = try TestFolder(in: "/dev/shm")
        let tickets = SessionTickets(try RuntimeFolder.make(runtime.path))
        defer { for id in tickets.ids { tickets.remove(id) } }
        try home.makeVault()
        try home.unlock()
        let now = ClockReading.now()
        let later = ClockReading(wall: now.wall + 60, sinceBoot: 30, bootID: [UInt8](repeating: 7, count: 16))
        let logins = Authenticator(stateFolder: home.root + "/state", deviceFolder: home.root + "/device")
        let booted = Authenticator(stateFolder: home.root + "/state", deviceFolder: home.root + "/device", clock: { later })
        var cells: [Cell] = []
        for place in Place.allCases {
            for level in Self.levels {
                for release in TokenRelease.allCases { cells.append(try Cell(place, level, release, cells.count, home)) }
            }
        }
        let open = try Dictionary(
            uniqueKeysWithValues: Set(cells.map(\.profile.level)).map { ($0, try #require(try key(of: $0, home, logins))) })
        #expect(cells.count == 54 && open.count == 6)
        for state in VaultState.allCases {
            if state != .open { try home.client.lock(home.paths, forgets: state == .neverOpened) }
            let same = store(tickets, at: now)
            for cell in cells {
                let isRemembered = cell.place == .ledger, key = open[cell.profile.level]
                guard isRemembered, let key else {
                    #expect(same.keep(try cell.session()))
                    continue
                }
                #expect(same.keep(try cell.session(try cell.remember(logins, key))))
            }
            for moment in Moment.allCases {
                let agent = moment == .sameAgent ? same : store(tickets, at: moment == .afterReboot ? later : now)
                if moment != .sameAgent { agent.resume() }
                for cell in cells {
                    if moment != .sameAgent, cell.place == .ledger {
                        let found = try restore(
                            cell, into: agent, moment == .afterReboot ? booted : logins, key(of: cell.profile.level, home, logins)
                        )
                        #expect(
                            found == (cell.isKept(moment, state) ? "done" : "locked"), "\(state) \(moment) \(cell.profile.level)")
                    }
                    let told = [false, true].map {
                        agent.told(cell.login, TokenQuestion(atLeast: 0, isAgreed: $0))
                    }
                    #expect(told == cell.told(moment, state), "\(cell.place) \(state) \(moment) \(cell.profile.level)")
                }
            }
        }
    }
}
