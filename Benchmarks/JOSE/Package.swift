// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of JOSE do not depend on the libraries that it is compared with.
let package = Package(
    name: "jose-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "gatehouse", path: "../.."),
        .package(url: "https://github.com/vapor/jwt-kit.git", exact: "5.7.1"),
    ],
    targets: [
        .target(name: "Primitive", linkerSettings: [.linkedLibrary("crypto")]),
        .executableTarget(
            name: "jose-benchmark",
            dependencies: [
                "Primitive",
                .product(name: "JOSE", package: "gatehouse"),
                .product(name: "JWTKit", package: "jwt-kit"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
            ]),
    ]
)
