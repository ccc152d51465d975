import OMStorage

@testable import OMAuth

extension ModelTests {
    /// One thing that may happen to a login.
    enum Step: Hashable {
        case login(ConnectivityMode, Int, power: Int?)
        case net(ReferenceModel.Net)
        case serverPassword(Int), limit(Int), strict(Bool), lockout(Bool), delay(Bool), allowed(Bool)
        case serverPolicy(epoch: UInt64, limit: Int?, allowed: Bool?), noServerPolicy
        case advance(Int64), wall(Int64), reboot
        case photograph, restoreLedger, restoreAll
        case logout(clear: Bool), remove

        static func random(_ dice: inout Dice) -> Step {
            switch dice.roll(40) {
            case 0..<22:
                let mode: ConnectivityMode = [.offline, .offline, .auto, .auto, .online][dice.roll(5)]
                return .login(mode, dice.roll(3), power: dice.roll(8) == 0 ? dice.roll(10) : nil)
            case 22..<26: return .net(ReferenceModel.Net.allCases[dice.roll(6)])
            case 26: return .net(.up)
            case 27: return .serverPassword(dice.roll(3))
            case 28: return .limit(1 + dice.roll(4))
            case 29: return dice.roll(2) == 0 ? .strict(dice.roll(2) == 0) : .lockout(dice.roll(3) == 0)
            case 30: return dice.roll(2) == 0 ? .delay(dice.roll(3) == 0) : .allowed(dice.roll(4) != 0)
            case 31:
                return .serverPolicy(
                    epoch: UInt64(1 + dice.roll(5)), limit: [nil, 1, 3, 50][dice.roll(4)],
                    allowed: [nil, true, true, false][dice.roll(4)])
            case 32: return .noServerPolicy
            case 33: return .advance([1, 31, 4_000, 86_400 * 12][dice.roll(4)])
            case 34: return .wall([-86_400 * 3_650, -3_600, 3_600, 86_400 * 40][dice.roll(4)])
            case 35: return .reboot
            case 36: return .photograph
            case 37: return dice.roll(2) == 0 ? .restoreLedger : .restoreAll
            case 38: return .logout(clear: dice.roll(3) == 0)
            default: return dice.roll(4) == 0 ? .remove : .advance(100)
            }
        }
    }

    struct Dice {
        private var state: UInt64

        init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

        mutating func roll(_ sides: Int) -> Int {
            // SplitMix64
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((mixed ^ (mixed >> 31)) % UInt64(sides))
        }
    }
}
