// swift-tools-version: 6.2
import PackageDescription

/// The floors of the house, from the top: docs/internals/design.md, "The house". Each is a folder of Sources.
enum Floor: String {
    case doors = "Doors"
    case joiners = "Joiners"
    case services = "Services"
    case ground = "Ground"
    case bedrock = "Bedrock"
}

/// The rooms: the only place that says on which floor a room is, and what it may import. Imports go down only, and rooms on one
/// floor do not know each other. Tests/FloorsTests reads these lines, and holds every `import` against them.
let rooms: [Target] = [
    room(
        .doors, "omvault",
        imports: ["OMShell", "OMAgentProtocol", "OMItems", "OMSecrets", "OMSystem"], .callsC),
    room(
        .doors, "omvault-full",
        imports: [
            "OMAgent", "OMAgentProtocol", "OMVault", "OMAuth", "OMVectors", "OMCrypto", "OMItems", "OMStorage", "OMRecords",
            "OMShell", "OMOnlineModel", "OMSecrets", "OMSystem", "OMJSON", "OMSync", "OMRemote", "OMSyncKeys", "OMParcels",
            "OMMasking", "OMInterchange", "COMSystem", "CVectors", "CWords", "CZxcvbn",
        ],
        packages: [.product(name: "ArgumentParser", package: "swift-argument-parser")], .callsC),
    room(
        .doors, "omvault-agent",
        imports: [
            "OMAgent", "OMAgentProtocol", "OMVault", "OMSync", "OMItems", "OMParcels", "OMOnline", "OMOnlineModel", "OMSecrets",
            "OMInterchange", "OMShell", "OMSystem", "OMJSON",
        ], .callsC),
    room(
        .doors, "omvault-pam-helper",
        imports: ["OMAgent", "OMAgentProtocol", "OMAuth", "OMOnlineModel", "OMSecrets", "OMSystem", "COMSystem"], .callsC),
    // The server is behind the trait `Server`: each of its files is inside `#if Server`. Without it these three are empty.
    room(
        .doors, "omvault-server",
        imports: ["OMServer", "OMServerStore", "OMJSON", "OMSecrets", "OMSystem", "COMSystem"],
        packages: [
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
            .product(name: "Hummingbird", package: "hummingbird", condition: .server),
            .product(name: "HummingbirdCore", package: "hummingbird", condition: .server),
            .product(name: "HummingbirdTLS", package: "hummingbird", condition: .server),
            .product(name: "NIOCore", package: "swift-nio", condition: .server),
            .product(name: "NIOPosix", package: "swift-nio", condition: .server),
            .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .server),
            // Which hummingbird's own interface names.
            .product(name: "HTTPTypes", package: "swift-http-types", condition: .server),
            .product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: .server),
            .product(name: "Logging", package: "swift-log", condition: .server),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .server),
            .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: .server),
        ], .callsC),

    room(
        .joiners, "OMAgent",
        imports: [
            "OMAgentProtocol", "OMVault", "OMAuth", "OMRemote", "OMItems", "OMStorage", "OMParcels", "OMRecords", "OMOnlineModel",
            "OMInterchange", "OMCrypto", "OMSecrets", "OMSystem", "COMSystem",
        ],
        // Values of logins that are read by the protocol's reader: Frames/SessionWire.swift.
        .callsC + [.enableExperimentalFeature("Lifetimes")]),

    room(.joiners, "OMSync", imports: ["OMVault", "OMSyncKeys", "OMItems", "OMParcels", "OMRecords", "OMSecrets"]),

    room(
        .joiners, "OMServer",
        imports: ["OMServerStore", "OMCrypto", "OMParcels", "OMRecords", "OMSecrets", "OMSystem", "OMJSON"], .callsC),

    room(.joiners, "OMShell", imports: ["OMAgentProtocol", "OMItems", "OMSecrets", "OMSystem", "OMJSON", "COMSystem"], .callsC),

    room(
        .services, "OMVault",
        imports: ["OMCrypto", "OMItems", "OMParcels", "OMStorage", "OMRecords", "OMSecrets", "OMSystem"]),
    room(
        .services, "OMAgentProtocol", imports: ["OMItems", "OMRecords", "OMSecrets", "OMSystem", "COMSystem"],
        // A reader that borrows the bytes it reads: WireReader.swift.
        .callsC + [.enableExperimentalFeature("Lifetimes")]),
    room(
        .services, "OMAuth",
        imports: ["OMCrypto", "OMStorage", "OMRecords", "OMOnlineModel", "OMSecrets", "OMSystem", "OMJSON"],
        resources: [.embedInCode("Profiles/presets.json")]),
    room(
        .services, "OMOnline", imports: ["OMCrypto", "OMOnlineModel", "OMParcels", "OMSecrets", "OMJSON"],
        packages: [
            .product(name: "AsyncHTTPClient", package: "async-http-client"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
        ], .callsC),
    room(.services, "OMSyncKeys", imports: ["OMParcels", "OMRecords", "OMSecrets"]),
    room(.services, "OMRemote", imports: ["OMParcels", "OMSystem"], .callsC),
    room(
        .services, "OMServerStore", imports: ["OMStorage", "OMSystem", "CPQ"], .callsC),
    room(
        .services, "OMInterchange",
        imports: ["OMCrypto", "OMItems", "OMRecords", "OMSecrets", "OMSystem", "OMJSON", "CExpat", "CSodium", "CZip", "CZlib"],
        .callsC),
    room(.services, "OMVectors", imports: ["OMCrypto", "OMSecrets", "OMJSON", "CZlib"], .callsC),

    room(.ground, "OMCrypto", imports: ["OMSecrets", "OMJSON", "COpenSSL", "CArgon2", "CCrypt", "CBlowfish"], .callsC),
    room(.ground, "OMStorage", imports: ["OMSecrets", "OMSystem", "CSQLite", "COMSystem"], .callsC),
    room(.ground, "OMItems", imports: ["OMRecords", "OMSecrets", "OMSystem"]),
    room(.ground, "OMMasking", imports: ["OMSecrets"], .callsC),
    room(.ground, "OMParcels", imports: ["OMRecords", "OMSecrets"]),
    room(.ground, "OMOnlineModel", imports: []),

    room(.bedrock, "OMSecrets", imports: ["CSodium", "COMSystem"]),
    room(.bedrock, "OMSystem", imports: ["COMSystem"], .callsC),
    room(.bedrock, "OMRecords", imports: []),
    room(.bedrock, "OMJSON", imports: []),
]

/// Under the floors: our own C, and the system's libraries.
let cModules: [Target] = [
    .target(name: "COMSystem", path: "Sources/C/COMSystem", cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "CBlowfish", path: "Sources/C/CBlowfish"),
    .target(name: "CVectors", path: "Sources/C/CVectors"),
    .target(name: "CWords", path: "Sources/C/CWords", exclude: ["eff-large-wordlist.txt"]),
    library("COpenSSL", "libcrypto", debian: "libssl-dev"),
    library("CArgon2", "libargon2", debian: "libargon2-dev"),
    library("CCrypt", "libcrypt", debian: "libcrypt-dev"),
    library("CSodium", "libsodium", debian: "libsodium-dev"),
    library("CZlib", "zlib", debian: "zlib1g-dev"),
    library("CSQLite", "sqlite3", debian: "libsqlite3-dev"),
    library("CExpat", "expat", debian: "libexpat1-dev"),
    library("CZip", "libzip", debian: "libzip-dev"),
    // Without pkg-config: Debian's package has no file for it.
    library("CZxcvbn", nil, debian: "libzxcvbn-dev"),
    // Without pkg-config: only the server needs libpq, and SwiftPM would ask everyone for it.
    library("CPQ", nil, debian: "libpq-dev"),
]

let benchmark = Target.executableTarget(
    name: "omvault-bench",
    dependencies: [
        "OMAgent", "OMAgentProtocol", "OMVault", "OMAuth", "OMOnlineModel", "OMCrypto", "OMItems", "OMStorage", "OMRecords",
        "OMSecrets", "COpenSSL", "CSodium",
    ],
    path: "Benchmarks/omvault-bench", swiftSettings: .callsC)

let tests: [Target] = [
    .target(name: "CSupport", path: "Tests/CSupport"),
    .target(name: "TestSupport", dependencies: ["CSupport"], path: "Tests/Support", swiftSettings: .callsC),
    .testTarget(name: "OMJSONTests", dependencies: ["OMJSON"], swiftSettings: .callsC),
    .testTarget(name: "OMSecretsTests", dependencies: ["OMSecrets", "TestSupport"], swiftSettings: .callsC),
    .testTarget(name: "OMMaskingTests", dependencies: ["OMMasking", "OMSecrets"], swiftSettings: .callsC),
    .testTarget(name: "OMCryptoTests", dependencies: ["TestSupport", "OMCrypto", "OMSecrets"], swiftSettings: .callsC),
    .testTarget(name: "OMVectorsTests", dependencies: ["OMVectors", "OMJSON", "TestSupport"], swiftSettings: .callsC),
    .testTarget(
        name: "OMInterchangeTests",
        dependencies: ["OMInterchange", "OMCrypto", "OMItems", "OMRecords", "OMSecrets", "OMSystem", "OMJSON", "TestSupport"],
        swiftSettings: .callsC),
    .testTarget(
        name: "OMVaultTests",
        dependencies: ["TestSupport", "OMVault", "OMCrypto", "OMItems", "OMStorage", "OMRecords", "OMSecrets", "OMSystem"],
        swiftSettings: .callsC),
    .testTarget(
        name: "OMParcelsTests", dependencies: ["TestSupport", "OMParcels", "OMRecords", "OMSecrets"], swiftSettings: .callsC),
    .testTarget(
        name: "OMSyncKeysTests", dependencies: ["TestSupport", "OMSyncKeys", "OMParcels", "OMRecords", "OMSecrets"],
        swiftSettings: .callsC),
    .testTarget(
        name: "OMRemoteTests", dependencies: ["TestSupport", "OMRemote", "OMParcels", "OMRecords", "OMSecrets", "OMSystem"],
        swiftSettings: .callsC),
    .testTarget(
        name: "OMSyncTests",
        dependencies: [
            "TestSupport", "OMSync", "OMAgent", "omvault-agent", "omvault-server", "OMRemote", "OMVault", "OMSyncKeys", "OMItems",
            "OMParcels", "OMRecords", "OMSecrets",
            "OMStorage", "OMSystem",
        ],
        swiftSettings: .callsC),
    .testTarget(
        name: "OMStorageTests", dependencies: ["TestSupport", "OMStorage", "OMSecrets", "OMSystem"], swiftSettings: .callsC),
    .testTarget(name: "OMSystemTests", dependencies: ["TestSupport", "OMSystem"], swiftSettings: .callsC),
    // Empty without the trait `Server`, which .ci/test has.
    .testTarget(
        name: "OMServerTests",
        dependencies: [
            "OMServer", "OMServerStore", "omvault-server", "OMCrypto", "OMParcels", "OMSyncKeys", "OMRecords", "OMSecrets",
            "OMSystem", "OMJSON", "TestSupport",
        ],
        swiftSettings: .callsC),
    .testTarget(name: "FloorsTests", swiftSettings: .callsC),
    .testTarget(
        name: "OmvaultCLITests",
        dependencies: [
            "omvault", "omvault-full", "omvault-agent", "omvault-pam-helper", "omvault-server", "OMShell", "OMItems", "OMSecrets",
            "OMJSON",
            "TestSupport",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ],
        swiftSettings: .callsC),
    .testTarget(
        name: "OMAgentTests",
        dependencies: [
            "TestSupport", "OMAgent", "OMAgentProtocol", "omvault-agent", "vault-worker", "OMVault", "OMAuth", "OMRemote",
            "OMCrypto", "OMInterchange", "OMItems", "OMStorage", "OMParcels", "OMRecords",
            "OMOnlineModel", "OMSecrets", "OMSystem", "COMSystem",
        ],
        swiftSettings: .callsC),
    .testTarget(
        name: "OMOnlineTests",
        dependencies: [
            "TestSupport", "OMOnline", "OMAgent", "OMAgentProtocol", "omvault-agent", "confined-worker", "OMVault", "OMAuth",
            "OMCrypto", "OMItems", "OMStorage", "OMJSON",
            "OMRecords", "OMOnlineModel", "OMSecrets", "OMSystem", "COMSystem",
        ],
        swiftSettings: .callsC),
    .executableTarget(
        name: "vault-worker",
        dependencies: ["OMAgent", "OMAgentProtocol", "OMVault", "OMItems", "OMStorage", "OMRecords", "OMSecrets"],
        path: "Tests/Worker", swiftSettings: .callsC),
    .target(name: "CAttempts", path: "Tests/ConfinedWorker/Attempts", cSettings: [.define("_GNU_SOURCE")]),
    .executableTarget(
        name: "confined-worker", dependencies: ["CAttempts", "OMAgent", "OMAgentProtocol", "COMSystem"],
        path: "Tests/ConfinedWorker/Worker",
        swiftSettings: .callsC),
    .executableTarget(
        name: "login-worker", dependencies: ["OMAuth", "OMOnlineModel", "OMSecrets", "OMSystem"],
        path: "Tests/LoginWorker", swiftSettings: .callsC),
    .testTarget(
        name: "OMAuthTests",
        dependencies: [
            "TestSupport", "OMAuth", "login-worker", "OMStorage", "OMRecords", "OMOnlineModel", "OMSecrets", "OMSystem",
        ],
        swiftSettings: .callsC),
]

extension TargetDependencyCondition {
    static var server: Self? { .when(traits: ["Server"]) }
}

extension [SwiftSetting] {
    /// For the rooms and doors whose every other line is a call to C.
    static var callsC: Self {
        [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
    }
    static var strict: Self { callsC + [.strictMemorySafety()] }
}

extension [LinkerSetting] {
    /// How the programs are linked for release, for the sake of their start: relative relocations packed (1.1 MB less to
    /// read), and libstdc++ from its archive like the rest of the Swift runtime, since as a shared library it costs a
    /// millisecond. `Sources/C/Linking/libstdc++.so` sends the linker there; libgcc's part of it goes along. Nothing looks for
    /// symbols in the program itself, so none are exported. Unsafe flags keep nobody from depending on the libraries: they
    /// count for the product that has them.
    ///
    /// `now`: all symbols are bound at the start and their table is read-only from then on (RELRO); it costs nothing that
    /// could be measured.
    static var quickStart: Self {
        [
            .unsafeFlags(
                [
                    "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
                    "-Xlinker", "-z", "-Xlinker", "now", "-Xlinker", "-z", "-Xlinker", "relro",
                    "-Xlinker", "--no-export-dynamic", "-Xclang-linker", "-static-libgcc",
                    "-L", "\(Context.packageDirectory)/Sources/C/Linking",
                ],
                .when(configuration: .release))
        ]
    }
}

extension [LinkerSetting] {
    /// The small program in front needs no dynamic linker, which is most of its start: glibc and libsodium are linked in.
    /// It still has a random address. swiftc gives `-pie` too, which clang then does not use.
    static var alone: Self {
        let flags = ["-static-pie", "-Wno-unused-command-line-argument"].flatMap { ["-Xclang-linker", $0] }
        return [.unsafeFlags(flags, .when(configuration: .release))]
    }
}

/// A room is a module, and a door a program.
func room(
    _ floor: Floor, _ name: String, imports: [String], packages: [Target.Dependency] = [], resources: [Resource] = [],
    _ settings: [SwiftSetting] = .strict
) -> Target {
    let dependencies = imports.map { Target.Dependency.byName(name: $0) } + packages
    let path = "Sources/\(floor.rawValue)/\(name)"
    return floor == .doors
        ? .executableTarget(
            name: name, dependencies: dependencies, path: path, swiftSettings: settings,
            linkerSettings: .quickStart + (name == "omvault" ? .alone : []))
        : .target(name: name, dependencies: dependencies, path: path, resources: resources, swiftSettings: settings)
}

func library(_ name: String, _ pkgConfig: String?, debian package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

let package = Package(
    name: "omvault",
    products: [
        .library(name: "OMVault", targets: ["OMVault"]),
        .library(name: "OMAuth", targets: ["OMAuth"]),
        .library(name: "OMOnline", targets: ["OMOnline"]),
        .library(name: "OMAgent", targets: ["OMAgent"]),
        .library(name: "OMAgentProtocol", targets: ["OMAgentProtocol"]),
        // The toolkit, without vault and login; then its parts.
        .library(name: "OMToolkit", targets: ["OMCrypto", "OMVectors", "OMSecrets"]),
        .library(name: "OMCrypto", targets: ["OMCrypto"]),
        .library(name: "OMVectors", targets: ["OMVectors"]),
        .library(name: "OMSecrets", targets: ["OMSecrets"]),
        .library(name: "OMStorage", targets: ["OMStorage"]),
        .library(name: "OMItems", targets: ["OMItems"]),
        .library(name: "OMRecords", targets: ["OMRecords"]),
        .library(name: "OMOnlineModel", targets: ["OMOnlineModel"]),
        .library(name: "OMSystem", targets: ["OMSystem"]),
        .executable(name: "omvault", targets: ["omvault"]),
        .executable(name: "omvault-full", targets: ["omvault-full"]),
        .executable(name: "omvault-agent", targets: ["omvault-agent"]),
        .executable(name: "omvault-pam-helper", targets: ["omvault-pam-helper"]),
        .executable(name: "omvault-server", targets: ["omvault-server"]),
    ],
    traits: [.trait(name: "Server", description: "the server, with hummingbird and libpq"), .default(enabledTraits: [])],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
        .package(url: "https://github.com/swift-server/async-http-client", .upToNextMinor(from: "1.37.0")),
        .package(url: "https://github.com/apple/swift-nio-ssl", .upToNextMinor(from: "2.37.6")),
        .package(url: "https://github.com/apple/swift-nio", .upToNextMinor(from: "2.101.2")),
        // For the server, so only fetched with its trait.
        .package(url: "https://github.com/hummingbird-project/hummingbird", .upToNextMinor(from: "2.28.1")),
        .package(url: "https://github.com/apple/swift-http-types", .upToNextMinor(from: "1.8.0")),
        .package(url: "https://github.com/apple/swift-nio-extras", .upToNextMinor(from: "1.35.2")),
        .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.2")),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", .upToNextMinor(from: "2.13.0")),
    ],
    targets: rooms + cModules + [benchmark] + tests,
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
                "CFuzz", "OMAgent", "OMAgentProtocol", "OMOnline", "OMVault", "OMAuth", "OMItems", "OMStorage", "OMRecords",
                "OMOnlineModel",
                "OMVectors", "OMCrypto", "OMInterchange", "OMParcels", "OMShell", "OMMasking", "OMSecrets", "OMSystem", "OMJSON",
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Tests/Fuzz/Targets", swiftSettings: .callsC + fuzzing,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address"])]),
    ]
}
