/// Bytes of the arena that exactly one ``SecretBytes`` owns.
@unsafe
struct SecretBlock {
    let base: UnsafeMutableRawPointer
    let count: Int
}
