@testable import OMAuth

extension ModelTests {
    /// A user with a password.
    enum Verb: Hashable {
        /// `login check`
        case check(Int)
        /// `login USER`
        case login(Answer, Wish?)
    }

    /// The answer to the first question. The user declines all later questions.
    enum Answer: Hashable {
        case none, remembered
        case typed(Int)
    }

    /// The choices for what to remember from this step on.
    enum Wish: String, CaseIterable {
        case auto, credentials, user, nothing

        var preferences: RememberPreferences {
            RememberPreferences(
                autoLogin: self == .auto, credentials: self == .auto || self == .credentials, userName: self != .nothing)
        }
    }

    /// One possible step in the history of a login.
    enum Step: Hashable {
        /// Nil means the mode of the profile.
        case attempt(Verb, ConnectivityMode?, power: Int?)
        case net(ReferenceModel.Net)
        case serverPassword(Int), limit(Int), strict(Bool), lockout(Bool), delay(Bool), allowed(Bool)
        case serverPolicy(epoch: UInt64, limit: Int?, allowed: Bool?), noServerPolicy, policyURL(Bool)
        case remember(RememberPolicy), times(idle: Int64?, session: Int64?, survivesRestart: Bool)
        case advance(Int64), wall(Int64), reboot, agentEnds
        case photograph, restoreLedger, restoreAll
        case logout(clear: Bool), remove

        /// Each history begins with its own settings.
        static func history(_ count: Int, seed: UInt64) -> [Step] {
            var dice = Dice(seed: seed)
            return (0..<count).map { number in random(&dice, number < 10 ? 26..<40 : 0..<48) }
        }

        private static func random(_ dice: inout Dice, _ range: Range<Int>) -> Step {
            switch range.lowerBound + dice.roll(range.count) {
            case 0..<15:
                let mode: ConnectivityMode = [.offline, .offline, .auto, .auto, .online][dice.roll(5)]
                return .attempt(.check(dice.roll(3)), mode, power: dice.power)
            case 15..<26:
                let mode: ConnectivityMode? = [nil, nil, .offline, .auto, .online][dice.roll(5)]
                let answer: Answer = [.none, .remembered, .typed(dice.roll(3)), .typed(dice.roll(3))][dice.roll(4)]
                let wish = dice.roll(3) == 0 ? Wish.allCases[dice.roll(4)] : nil
                return .attempt(.login(answer, wish), mode, power: dice.power)
            case 26..<30: return .net(ReferenceModel.Net.allCases[dice.roll(7)])
            case 30: return .net(.up)
            case 31: return .serverPassword(dice.roll(3))
            case 32: return .limit(1 + dice.roll(4))
            case 33: return dice.roll(2) == 0 ? .strict(dice.roll(2) == 0) : .lockout(dice.roll(3) == 0)
            case 34: return dice.roll(2) == 0 ? .delay(dice.roll(3) == 0) : .allowed(dice.roll(4) != 0)
            case 35:
                return .serverPolicy(
                    epoch: UInt64(1 + dice.roll(5)), limit: [nil, 1, 3, 50][dice.roll(4)],
                    allowed: [nil, true, true, false][dice.roll(4)])
            case 36: return dice.roll(3) == 0 ? .policyURL(dice.roll(2) == 0) : .noServerPolicy
            case 37: return .remember(dice.remember)
            case 38:
                return .times(
                    idle: [nil, 90][dice.roll(2)], session: [nil, 600][dice.roll(2)], survivesRestart: dice.roll(2) == 0)
            case 39: return .advance([1, 31, 4_000, 86_400 * 12][dice.roll(4)])
            case 40: return .wall([-86_400 * 3_650, -3_600, 3_600, 86_400 * 40][dice.roll(4)])
            case 41: return dice.roll(2) == 0 ? .reboot : .agentEnds
            case 42: return .photograph
            case 43: return dice.roll(2) == 0 ? .restoreLedger : .restoreAll
            case 44: return .logout(clear: dice.roll(3) == 0)
            case 45: return dice.roll(4) == 0 ? .remove : .advance(50)
            default: return .advance(100)
            }
        }
    }

    struct Dice {
        private var state: UInt64

        // The seed is mixed first: traces with nearby seeds would soon become equal.
        init(seed: UInt64) { state = Self.mixed(Self.mixed(seed &+ 0x9E37_79B9_7F4A_7C15)) }

        mutating func roll(_ sides: Int) -> Int {
            // SplitMix64
            state &+= 0x9E37_79B9_7F4A_7C15
            return Int(Self.mixed(state) % UInt64(sides))
        }

        private static func mixed(_ state: UInt64) -> UInt64 {
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }

        /// The number of writes until the power cut. Mostly there is none.
        fileprivate var power: Int? {
            mutating get { roll(5) == 0 ? roll(10) : nil }
        }

        /// At most one of the three is a default.
        fileprivate var remember: RememberPolicy {
            mutating get {
                let ticked = roll(6)
                func option(_ number: Int) -> RememberOption {
                    RememberOption(isAllowed: roll(4) != 0, isDefault: ticked == number)
                }
                return RememberPolicy(autoLogin: option(0), credentials: option(1), userName: option(2))
            }
        }
    }
}
