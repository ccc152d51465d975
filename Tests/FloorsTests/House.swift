// The table of docs/design.md: which room may import which. Change the page first, then this.

enum House {
    static let rooms: [String: Set<String>] = [
        "OMSecrets": ["CSodium", "COMSystem"],
        "OMCrypto": ["OMSecrets", "COpenSSL", "CArgon2", "CCrypt"],
        "OMStorage": ["OMSecrets", "CSQLite", "COMSystem"],
        "OMRecords": [],
        "OMVault": ["OMSecrets", "OMStorage", "OMRecords"],
        "OMAuth": ["OMSecrets", "OMCrypto", "OMStorage", "OMRecords"],
        "OMOnline": ["OMSecrets", "OMRecords", "AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL"],
        "OMVectors": ["OMCrypto", "OMSecrets"],
        "OMAgent": ["OMVault", "OMAuth", "OMStorage", "OMRecords", "OMSecrets", "COMSystem"],
        // The doors
        "omvault": services.union(["OMAgent", "COMSystem", "ArgumentParser"]),
        "omvault-agent": ["OMAgent", "OMOnline", "OMRecords", "OMSecrets"],
        "omvault-pam-helper": ["OMAgent", "OMAuth", "OMStorage", "OMRecords", "OMSecrets", "COMSystem"],
        "omvault-bench": services.union(["OMAgent", "COMSystem", "COpenSSL", "CSodium", "CArgon2", "CCrypt", "CSQLite"]),
        // The C side
        "COMSystem": [], "COpenSSL": [], "CSodium": [], "CArgon2": [], "CCrypt": [], "CSQLite": [],
    ]

    private static let services: Set = [
        "OMVault", "OMAuth", "OMVectors", "OMCrypto", "OMStorage", "OMRecords", "OMSecrets",
    ]

    /// What the system brings. Full Foundation is not among it: it costs every start 3 ms and 48 MB.
    static let system: Set = ["Glibc", "Synchronization", "FoundationEssentials"]
}
