// Algorithms that the toolkit has not, whose text files look like those of others: told by the words of their comments.

/// Words, in lower case, and the algorithm that they mean. The first that a file speaks of counts.
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
    /// Such an algorithm, when the comments or the file's name speak of one.
    var foreignAlgorithm: String? {
        var words: Set<Substring> = []
        for text in comments.prefix(64).map({ $0.lowercased() }) + [fileName.lowercased()] {
            words.formUnion(text.split { !$0.isLetter && !$0.isNumber }.prefix(256))
        }
        return foreignWords.first { words.contains(Substring($0.word)) }?.name
    }
}
