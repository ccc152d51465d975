internal import CSodium

/// Random bytes that are not secret: salts, ids, nonces.
public enum Random {
    public static func bytes(_ count: Int) -> [UInt8] {
        unsafe [UInt8](count: count) { unsafe randombytes_buf($0, count) }
    }
}
