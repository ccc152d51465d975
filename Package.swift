// swift-tools-version: 6.2
import PackageDescription

// The house of docs/design.md, floor by floor. Tests/FloorsTests holds every `import` against the same table.

let house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
/// Everywhere but in the rooms and doors whose every other line is a call to C.
let strict: [SwiftSetting] = house + [.strictMemorySafety()]

/// How the programs are linked for release, for the sake of their start: relative relocations packed (1.1 MB less to
/// read), and libstdc++ from its archive like the rest of the Swift runtime, since as a shared library it costs a
/// millisecond. `Sources/Linking/libstdc++.so` sends the linker there; libgcc's part of it goes along. Nothing looks for
/// symbols in the program itself, so none are exported. Unsafe flags keep nobody from depending on the libraries: they
/// count for the product that has them.
///
/// `now`: all symbols are bound at the start and their table is read-only from then on (RELRO); it costs nothing that
/// could be measured.
let quickStart: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
            "-Xlinker", "-z", "-Xlinker", "now", "-Xlinker", "-z", "-Xlinker", "relro",
            "-Xlinker", "--no-export-dynamic", "-Xclang-linker", "-static-libgcc",
            "-L", "\(Context.packageDirectory)/Sources/Linking",
        ],
        .when(configuration: .release))
]

let package = Package(
    name: "omvault",
    products: [
        .library(name: "OMSecrets", targets: ["OMSecrets"]),
        .library(name: "OMCrypto", targets: ["OMCrypto"]),
        .library(name: "OMStorage", targets: ["OMStorage"]),
        .library(name: "OMRecords", targets: ["OMRecords"]),
        .library(name: "OMVault", targets: ["OMVault"]),
        .library(name: "OMAuth", targets: ["OMAuth"]),
        .library(name: "OMOnline", targets: ["OMOnline"]),
        .library(name: "OMVectors", targets: ["OMVectors"]),
        .executable(name: "omvault", targets: ["omvault"]),
        .library(name: "OMAgent", targets: ["OMAgent"]),
        .executable(name: "omvault-agent", targets: ["omvault-agent"]),
        .executable(name: "omvault-bench", targets: ["omvault-bench"]),
        .executable(name: "omvault-pam-helper", targets: ["omvault-pam-helper"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
        .package(url: "https://github.com/swift-server/async-http-client", .upToNextMinor(from: "1.37.0")),
        .package(url: "https://github.com/apple/swift-nio-ssl", .upToNextMinor(from: "2.37.6")),
        .package(url: "https://github.com/apple/swift-nio", .upToNextMinor(from: "2.101.2")),
    ],
    targets: [
        // Floor 4, doors
        .executableTarget(
            name: "omvault",
            dependencies: [
                "OMAgent", "OMVault", "OMAuth", "OMVectors", "OMCrypto", "OMStorage", "OMRecords", "OMSecrets",
                "COMSystem",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: house, linkerSettings: quickStart),
        .executableTarget(
            name: "omvault-agent", dependencies: ["OMAgent", "OMOnline", "OMRecords", "OMSecrets"], swiftSettings: house,
            linkerSettings: quickStart),
        .executableTarget(
            name: "omvault-bench",
            dependencies: [
                "OMAgent", "OMVault", "OMCrypto", "OMStorage", "OMRecords", "OMSecrets", "COpenSSL", "CSodium",
            ],
            swiftSettings: house),
        .executableTarget(
            name: "omvault-pam-helper",
            dependencies: ["OMAgent", "OMAuth", "OMStorage", "OMRecords", "OMSecrets", "COMSystem"], swiftSettings: house,
            linkerSettings: quickStart),

        // Floor 3, joiners
        .target(
            name: "OMAgent", dependencies: ["OMVault", "OMAuth", "OMStorage", "OMRecords", "OMSecrets", "COMSystem"],
            swiftSettings: house),

        // Floor 2, services
        .target(name: "OMVault", dependencies: ["OMSecrets", "OMStorage", "OMRecords"], swiftSettings: strict),
        .target(
            name: "OMAuth", dependencies: ["OMSecrets", "OMCrypto", "OMStorage", "OMRecords"], swiftSettings: strict),
        .target(name: "OMVectors", dependencies: ["OMCrypto", "OMSecrets"], swiftSettings: strict),

        .target(
            name: "OMOnline",
            dependencies: [
                "OMSecrets", "OMRecords", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ], swiftSettings: house),

        // Floor 1, ground
        .target(
            name: "OMCrypto", dependencies: ["OMSecrets", "COpenSSL", "CArgon2", "CCrypt"], swiftSettings: house),
        .target(name: "OMStorage", dependencies: ["OMSecrets", "CSQLite", "COMSystem"], swiftSettings: house),
        .target(name: "OMRecords", swiftSettings: strict),

        // Floor 0, bedrock
        .target(name: "OMSecrets", dependencies: ["CSodium", "COMSystem"], swiftSettings: strict),
        .target(name: "COMSystem", cSettings: [.define("_GNU_SOURCE")]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CArgon2", pkgConfig: "libargon2", providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(name: "CCrypt", pkgConfig: "libcrypt", providers: [.apt(["libcrypt-dev"])]),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

        // Tests
        .target(name: "CSupport", path: "Tests/CSupport"),
        .target(name: "TestSupport", dependencies: ["CSupport"], path: "Tests/Support", swiftSettings: house),
        .testTarget(name: "OMSecretsTests", dependencies: ["OMSecrets", "TestSupport"], swiftSettings: house),
        .testTarget(name: "OMCryptoTests", dependencies: ["OMCrypto", "OMSecrets"], swiftSettings: house),
        .testTarget(name: "OMVectorsTests", dependencies: ["OMVectors", "TestSupport"], swiftSettings: house),
        .testTarget(
            name: "OMVaultTests", dependencies: ["TestSupport", "OMVault", "OMStorage", "OMRecords", "OMSecrets"],
            swiftSettings: house),
        .testTarget(name: "OMStorageTests", dependencies: ["TestSupport", "OMStorage", "OMSecrets"], swiftSettings: house),
        .testTarget(name: "FloorsTests", swiftSettings: house),
        .testTarget(
            name: "OmvaultCLITests",
            dependencies: [
                "omvault", "omvault-agent", "omvault-pam-helper", "OMSecrets", "TestSupport", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: house),
        .testTarget(
            name: "OMAgentTests",
            dependencies: [
                "TestSupport", "OMAgent", "omvault-agent", "vault-worker", "OMVault", "OMAuth", "OMStorage", "OMRecords", "OMSecrets", "COMSystem",
            ],
            swiftSettings: house),
        .testTarget(
            name: "OMOnlineTests",
            dependencies: [
                "TestSupport", "OMOnline", "OMAgent", "omvault-agent", "confined-worker", "OMVault", "OMAuth", "OMStorage", "OMRecords",
                "OMSecrets", "COMSystem",
            ],
            swiftSettings: house),
        .executableTarget(
            name: "vault-worker", dependencies: ["OMAgent", "OMVault", "OMStorage", "OMRecords", "OMSecrets"],
            path: "Tests/Worker", swiftSettings: house),
        .target(name: "CAttempts", path: "Tests/ConfinedWorker/Attempts", cSettings: [.define("_GNU_SOURCE")]),
        .executableTarget(
            name: "confined-worker", dependencies: ["CAttempts", "OMAgent"], path: "Tests/ConfinedWorker/Worker",
            swiftSettings: house),
        .executableTarget(
            name: "login-worker", dependencies: ["OMAuth", "OMStorage", "OMRecords", "OMSecrets"],
            path: "Tests/LoginWorker", swiftSettings: house),
        .testTarget(
            name: "OMAuthTests", dependencies: ["TestSupport", "OMAuth", "login-worker", "OMStorage", "OMRecords", "OMSecrets"],
            swiftSettings: house),
    ],
    swiftLanguageModes: [.v6]
)

// `OMV_FUZZ=1 swift build --product omvault-fuzz --scratch-path .build-fuzz`, as Tests/Fuzz/run does. Only so, since
// packages with unsafe flags cannot be depended on.
if Context.environment["OMV_FUZZ"] == "1" {
    let fuzzing: [SwiftSetting] = [.unsafeFlags(["-sanitize=fuzzer,address"])]
    for target in package.targets where target.type == .regular && target.name.hasPrefix("OM") {
        target.swiftSettings = (target.swiftSettings ?? []) + fuzzing
    }
    package.products.append(.executable(name: "omvault-fuzz", targets: ["omvault-fuzz"]))
    package.targets += [
        .target(name: "CFuzz", path: "Tests/Fuzz/CFuzz"),
        .executableTarget(
            name: "omvault-fuzz",
            dependencies: [
                "CFuzz", "OMAgent", "OMOnline", "OMVault", "OMAuth", "OMStorage", "OMRecords", "OMVectors", "OMCrypto",
                "OMSecrets", .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Tests/Fuzz/Targets", swiftSettings: house + fuzzing,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address"])]),
    ]
}
