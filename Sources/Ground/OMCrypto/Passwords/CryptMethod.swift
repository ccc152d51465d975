// The methods of /etc/shadow: SHA-crypt (Drepper 2007) and yescrypt (Solar Designer), through the system's libcrypt.

internal import OMSecrets

/// A method of crypt(3).
public enum CryptMethod: String, CaseIterable, Hashable, Sendable {
    /// `$5$rounds=N$salt$hash`; 5000 rounds if none are named.
    case sha256crypt
    /// `$6$rounds=N$salt$hash`
    case sha512crypt
    /// `$y$parameters$salt$hash`, with the parameters of crypt(3)'s costs 1 to 11.
    case yescrypt

    /// What stands between the first two `$` of a string.
    var id: String {
        switch self {
        case .sha256crypt: "5"
        case .sha512crypt: "6"
        case .yescrypt: "y"
        }
    }

    /// Rounds, or yescrypt's cost.
    var costs: ClosedRange<Int> { self == .yescrypt ? 1...11 : 1000...999_999_999 }

    /// The digits of the hash at the end of a string.
    private var hashCount: Int { self == .sha512crypt ? 86 : 43 }

    /// - Parameter salt: 16 bytes.
    /// - Throws: ``CryptoError/parameterOutOfRange``, ``CryptoError/passwordNotSupported``.
    func make(_ password: borrowing SecretBytes, cost: Int, salt: [UInt8]) throws(CryptoError) -> String {
        guard costs.contains(cost) else { throw .parameterOutOfRange }
        return try SystemCrypt.string(password, setting: SystemCrypt.setting("$\(id)$", cost: cost, salt: salt))
    }

    /// The function of a stored string, and its cost. Nil for another kind of string.
    ///
    /// - Throws: ``CryptoError/malformedHash``; ``CryptoError/parameterOutOfRange`` for parameters of yescrypt that crypt(3)
    ///   gives no string.
    static func function(of text: String) throws(CryptoError) -> PasswordFunction? {
        var parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count > 2, parts[0].isEmpty, let method = allCases.first(where: { $0.id == parts[1] }) else { return nil }
        parts.removeFirst(2)
        var cost = 5000
        if method == .yescrypt {
            cost = try yescryptCost(parts.removeFirst())
        } else if parts[0].hasPrefix("rounds=") {
            let digits = parts.removeFirst().dropFirst("rounds=".count)
            // In its only form, and never what the library would silently change to the nearest allowed number.
            guard let rounds = Int(digits), String(rounds) == digits, method.costs.contains(rounds) else { throw .malformedHash }
            cost = rounds
        }
        guard parts.count == 2, parts[0].utf8.count <= (method == .yescrypt ? 86 : 16), parts[1].utf8.count == method.hashCount,
            parts.allSatisfy({ $0.utf8.allSatisfy { CryptDigit.value($0) != nil } })
        else { throw .malformedHash }
        return .crypt(method, cost: cost)
    }

    /// yescrypt's parameters as crypt(3) writes them: three digits for the flavour, the memory's block count N and the block
    /// size r, which the costs 1 to 11 choose.
    ///
    /// Attack: a string with further parameters asks for more memory or time than its first three say. Those have a fourth.
    private static func yescryptCost(_ text: Substring) throws(CryptoError) -> Int {
        let digits = text.utf8.map { CryptDigit.value($0) }
        guard digits.count == 3, digits[0] == CryptDigit.value(UInt8(ascii: "j")), let logN = digits[1], let size = digits[2]
        else { throw digits.contains(nil) ? .malformedHash : .parameterOutOfRange }
        let cost = costs.first { YescryptParameters(cost: $0) == YescryptParameters(logN: logN + 1, blockSize: size + 1) }
        guard let cost else { throw .parameterOutOfRange }
        return cost
    }

    private static let costs = CryptMethod.yescrypt.costs
}

/// The memory of yescrypt: 128 · r · 2^logN bytes.
struct YescryptParameters: Equatable {
    let logN: Int
    let blockSize: Int

    init(logN: Int, blockSize: Int) { (self.logN, self.blockSize) = (logN, blockSize) }

    /// - Parameter cost: As crypt(5) has it: 1 and 2 are 1 and 2 MiB in blocks of 1 KiB, and from 3 on each doubles 4 MiB.
    init(cost: Int) {
        if cost <= 2 { self.init(logN: cost + 9, blockSize: 8) } else { self.init(logN: cost + 7, blockSize: 32) }
    }

    var memoryKiB: Int { (blockSize << logN) / 8 }
}

/// The digits of crypt(3), `./0-9A-Za-z`.
enum CryptDigit {
    static func value(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "/"), 0x30...0x39: Int(byte) - 0x2E
        case 0x41...0x5A: Int(byte) - 0x41 + 12
        case 0x61...0x7A: Int(byte) - 0x61 + 38
        default: nil
        }
    }
}
