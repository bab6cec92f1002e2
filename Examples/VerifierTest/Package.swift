// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "verifier-test",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "gatehouse", path: "../..")],
    targets: [
        .executableTarget(
            name: "VerifierTest",
            dependencies: [
                .product(name: "HostileTokens", package: "gatehouse"), .product(name: "JOSE", package: "gatehouse"),
            ])
    ]
)
