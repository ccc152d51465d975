/// Bytes of the arena, owned by exactly one ``SecretBytes``.
@unsafe
struct SecretBlock {
    let base: UnsafeMutableRawPointer
    let count: Int
}
