internal import CSodium

/// Comparison in a time that depends on the lengths only. All rooms use this one function.
public enum ConstantTime {
    public static func areEqual(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        return unsafe one.withPointer { left, count in
            unsafe other.withPointer { right, _ in unsafe sodium_memcmp(left, right, count) == 0 }
        }
    }
}
