internal import CSodium

/// Random bytes for salts, ids and nonces, which are not secret. Random choices, which may be secret.
public enum Random {
    public static func bytes(_ count: Int) -> [UInt8] {
        unsafe [UInt8](count: count) { unsafe randombytes_buf($0, count) }
    }

    /// A number from 0 to `count` − 1, each equally likely.
    public static func index(below count: Int) -> Int {
        guard let bound = UInt32(exactly: count), bound > 0 else { preconditionFailure("no number is below \(count)") }
        // Attack: the remainder of a random number prefers small numbers, so guessing begins with them. libsodium draws again
        // if the number is in the incomplete last round.
        return Int(randombytes_uniform(bound))
    }
}
