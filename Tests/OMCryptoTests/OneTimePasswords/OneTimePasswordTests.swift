import OMCrypto
import OMSecrets
import Testing

/// The codes themselves are in vectors/otp-rfc4226.json and vectors/otp-rfc6238.json.
@Suite("One-time passwords") struct OneTimePasswordTests {
    private static let key = Array("12345678901234567890".utf8)

    private func text(_ secret: borrowing SecretBytes) -> String { String(decoding: bytes(secret), as: UTF8.self) }

    @Test("a timed code changes at the end of its period")
    func periods() throws {
        let password = try OneTimePassword(secret: secret(Self.key), digits: 8)
        #expect(text(try password.code(at: 59)) == "94287082")
        #expect(text(try password.code(at: 30)) == "94287082")
        #expect(text(try password.code(at: 60)) != "94287082")
        #expect(text(try password.code(counter: 1)) == "94287082")
        #expect(password.secondsLeft(at: 59) == 1 && password.secondsLeft(at: 60) == 30)
        #expect(password.counter(at: .max) == UInt64.max / 30)
    }

    @Test("a counted code does not depend on the time")
    func counted() throws {
        let password = try OneTimePassword(secret: secret(Self.key), factor: .counter(9))
        #expect(text(try password.code(at: 59)) == "520489")
        #expect(password.secondsLeft(at: 59) == nil)
        #expect(password.window(at: 0) == 9...18)
    }

    @Test("a timed code is accepted one step early and one step late")
    func timedWindow() throws {
        let password = try OneTimePassword(secret: secret(Self.key))
        let code = try password.code(at: 1_111_111_111)
        for (time, isAccepted) in [
            (1_111_111_111, true), (1_111_111_111 - 30, true), (1_111_111_111 + 30, true), (1_111_111_111 - 90, false),
            (1_111_111_111 + 90, false),
        ] as [(UInt64, Bool)] {
            let found = try password.counter(of: code, in: password.window(at: time))
            let expected: UInt64? = isAccepted ? 1_111_111_111 / 30 : nil
            #expect(found == expected, "\(time)")
        }
        #expect(password.window(at: 0) == 0...1)
        let seconds = try OneTimePassword(secret: secret(Self.key), factor: .time(period: 1))
        #expect(seconds.window(at: .max) == UInt64.max - 1...UInt64.max)
    }

    @Test("a counted code is accepted from the counter on, up to the look-ahead, and never twice")
    func countedWindow() throws {
        let password = try OneTimePassword(secret: secret(Self.key), factor: .counter(3))
        for counter in 0...20 as ClosedRange<UInt64> {
            let found = try password.counter(of: try password.code(counter: counter), in: password.window(at: 0))
            let expected: UInt64? = (3...12).contains(counter) ? counter : nil
            #expect(found == expected, "\(counter)")
        }
        let last = try OneTimePassword(secret: secret(Self.key), factor: .counter(.max))
        #expect(last.window(at: 0) == UInt64.max...UInt64.max)
        #expect(try last.counter(of: try last.code(at: 0), in: last.window(at: 0)) == .max)
    }

    @Test("a code of another length, or with blanks, is not accepted", arguments: ["", "75522", "7552240", "0755224", "755 224"])
    func wrongLength(code: String) throws {
        let password = try OneTimePassword(secret: secret(Self.key), factor: .counter(0))
        #expect(try password.counter(of: secret(code.utf8), in: 0...0) == nil)
    }

    @Test("settings out of range are refused")
    func ranges() {
        func refusal(_ key: [UInt8], digits: Int = 6, factor: OneTimePassword.Factor = .time(period: 30)) -> OneTimePasswordError?
        {
            do throws(OneTimePasswordError) {
                _ = try OneTimePassword(secret: secret(key), digits: digits, factor: factor)
                return nil
            } catch { return error }
        }
        #expect(refusal([]) == .emptySecret)
        #expect(refusal([1]) == nil)
        for digits in [-1, 0, 5, 11] { #expect(refusal([1], digits: digits) == .digitsOutOfRange) }
        for period in [0, 86_401, .max] as [UInt64] { #expect(refusal([1], factor: .time(period: period)) == .periodOutOfRange) }
        #expect(refusal([1], digits: 10, factor: .time(period: 86_400)) == nil)
    }
}
