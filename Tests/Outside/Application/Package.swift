// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "application",
    dependencies: [.package(path: "../../..")],
    targets: [
        .executableTarget(
            name: "application",
            dependencies: [
                .product(name: "OMAuth", package: "omvault"), .product(name: "OMSecrets", package: "omvault"),
            ],
            path: "Sources")
    ]
)
