import OMCrypto
import OMSecrets

func secret(_ bytes: some Sequence<UInt8>) -> SecretBytes { SecretBytes(copying: Array(bytes)) }

func bytes(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.withBytes { bytes in bytes.withUnsafeBufferPointer { Array($0) } }
}

/// `count` bytes with different values, the same in every run.
func pattern(_ count: Int, seed: Int = 7) -> [UInt8] {
    // A plain loop: in a debug build, `map` takes half a second for a megabyte.
    [UInt8](unsafeUninitializedCapacity: count) { bytes, made in
        while made < count {
            bytes[made] = UInt8(truncatingIfNeeded: (made &* 131 &+ seed) ^ (made >> 8))
            made += 1
        }
    }
}

/// A stream over `bytes`, handed out in pieces of at most `piece`.
func source(_ bytes: [UInt8], piece: Int = .max) -> ByteSource {
    var rest = bytes[...]
    return { target in
        let count = min(target.count, rest.count, piece)
        target.withUnsafeMutableBufferPointer { target in
            _ = target.update(fromContentsOf: rest.prefix(count))
        }
        rest = rest.dropFirst(count)
        return count
    }
}
