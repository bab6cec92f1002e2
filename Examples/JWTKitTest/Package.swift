// swift-tools-version: 6.2
import PackageDescription

// Tests of another project's verifier, in a package of its own so that the gateway does not depend on JWTKit.
let package = Package(
    name: "jwt-kit-test",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "gatehouse", path: "../.."),
        .package(url: "https://github.com/vapor/jwt-kit.git", exact: "5.7.1"),
    ],
    targets: [
        .testTarget(
            name: "JWTKitTests",
            dependencies: [
                .product(name: "HostileTokens", package: "gatehouse"), .product(name: "JOSE", package: "gatehouse"),
                .product(name: "JWTKit", package: "jwt-kit"),
            ],
            exclude: ["Differences.txt"])
    ]
)
