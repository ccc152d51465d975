// Algorithms that the toolkit lacks, and whose text files look like those of other algorithms. The words of their comments
// show them.

/// Words in lower case, and the algorithm that each means. The first word of this list that a file has decides.
private let foreignWords: [(word: String, name: String)] = [
    ("cast5", "CAST5"), ("camellia", "Camellia"), ("seed", "SEED"), ("aria", "ARIA"), ("sm4", "SM4"), ("sm3", "SM3"),
    ("blowfish", "Blowfish"), ("bf", "Blowfish"), ("idea", "IDEA"), ("rc2", "RC2"), ("arc4", "RC4"), ("rc4", "RC4"),
    ("siv", "SIV"), ("ocb", "OCB"), ("ocb3", "OCB"), ("ccm", "CCM"), ("cfb", "CFB"), ("ofb", "OFB"), ("xts", "XTS"),
    ("cmac", "CMAC"), ("ripemd", "RIPEMD-160"), ("ripemd160", "RIPEMD-160"), ("blake2s", "BLAKE2s"),
    ("shake128", "SHAKE"), ("shake256", "SHAKE"), ("cshake128", "cSHAKE"), ("cshake256", "cSHAKE"),
    ("keccak", "Keccak before SHA-3"), ("x448", "X448"), ("ed448", "Ed448"), ("mldsa", "ML-DSA"), ("mlkem", "ML-KEM"),
    ("dh", "finite-field Diffie-Hellman"), ("brainpool", "brainpool curves"),
]

extension TextHeader {
    /// Such an algorithm, if the comments or the file's name mention it.
    var foreignAlgorithm: String? {
        var words: Set<Substring> = []
        for text in comments.prefix(64).map({ $0.lowercased() }) + [fileName.lowercased()] {
            words.formUnion(text.split { !$0.isLetter && !$0.isNumber }.prefix(256))
        }
        return foreignWords.first { words.contains(Substring($0.word)) }?.name
    }
}
