// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "realm-gateway",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "gatehouse", path: "../.."),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "RealmGateway",
            dependencies: [
                .product(name: "Runtime", package: "gatehouse"),
                .product(name: "Experience", package: "gatehouse"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ])
    ]
)
