// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "token-inspector",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "gatehouse", path: "../..")],
    targets: [
        .executableTarget(
            name: "TokenInspector", dependencies: [.product(name: "JOSE", package: "gatehouse")])
    ]
)
