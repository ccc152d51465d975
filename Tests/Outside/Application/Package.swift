// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "application",
    dependencies: [.package(path: "../../..")],
    targets: [
        .executableTarget(
            name: "application",
            dependencies: [
                "OMAgent", "OMAgentProtocol", "OMAuth", "OMItems", "OMOnlineModel", "OMRecords", "OMSecrets", "OMStorage",
                "OMSystem", "OMVault",
            ].map { .product(name: $0, package: "omvault") },
            path: "Sources")
    ]
)
