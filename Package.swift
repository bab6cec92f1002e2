// swift-tools-version: 6.2
import Foundation
import PackageDescription

// Targets bottom-up, in the order of their imports: the arrows here are the only imports there are.

let fuzzing = ProcessInfo.processInfo.environment["FUZZ"] != nil

let package = Package(
    name: "gatehouse",
    platforms: [.macOS(.v26)],
    products: [
        .executable(name: "gatehouse", targets: ["gatehouse"]),
        .library(name: "JOSE", targets: ["JOSE"]),
        .library(name: "HostileTokens", targets: ["HostileTokens"]),
        // With a realm of one's own: `Runtime` has the protocol, `Experience` the gateway that runs it.
        .library(name: "Runtime", targets: ["Runtime"]),
        .library(name: "Experience", targets: ["Experience", "Exposition"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.0"),
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.4.0", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
    ],
    targets: [
        // MARK: C, seen by one module each
        .systemLibrary(name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),

        // MARK: Tools without a subject
        .target(name: "Caching"),
        .target(name: "Exposition", dependencies: [.product(name: "Metrics", package: "swift-metrics")]),
        // What identifies a span, and how a context of swift-distributed-tracing carries it.
        .target(name: "Spans", dependencies: [.product(name: "Tracing", package: "swift-distributed-tracing")]),

        // MARK: Tokens
        .target(name: "Encodings"),
        .target(name: "Libcrypto", dependencies: ["CLibcrypto"]),
        .target(name: "JOSE", dependencies: ["Encodings", "Libcrypto"]),
        .target(name: "HostileTokens", dependencies: ["Encodings", "JOSE"]),

        // Why requests of OAuth are refused: codes, by the names of the RFCs. And scopes.
        .target(name: "OAuth", dependencies: ["Encodings"]),

        // MARK: Signing in with what people have, and telling others: decisions alone
        .target(name: "IdentityProviders", dependencies: ["Encodings", "JOSE", "Libcrypto"]),
        .target(name: "Passkeys", dependencies: ["Encodings", "JOSE", "Libcrypto"]),
        .target(name: "Webhooks", dependencies: ["Encodings", "JOSE", "Libcrypto"]),

        // MARK: State
        .target(
            name: "StateSurface",
            dependencies: [
                "CLibpq", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),

        // MARK: Who calls, what may be started, what runs
        .target(
            name: "SecurityGuard",
            dependencies: ["Caching", "Encodings", "JOSE", "OAuth", "StateSurface", "Libcrypto"]),
        .target(name: "TrafficCop", dependencies: ["Encodings", "Libcrypto"]),
        .target(name: "Runtime", dependencies: ["Caching", "Encodings", "TrafficCop", "StateSurface", "Libcrypto"]),

        // The Runtime's intents as a server of the Model Context Protocol. Pure.
        .target(name: "AgentTools", dependencies: ["Encodings", "Libcrypto", "Runtime"]),

        // OAuth for agents: what clients may ask for, and what codes, consents and personal tokens are. Pure.
        .target(name: "AuthorizationServer", dependencies: ["Encodings", "IdentityProviders", "Libcrypto", "OAuth"]),

        // Signing in and out: what has to happen together.
        .target(
            name: "SignIn",
            dependencies: [
                "AuthorizationServer", "Caching", "Encodings", "IdentityProviders", "Libcrypto", "OAuth", "Passkeys",
                "Runtime", "SecurityGuard", "StateSurface", "TrafficCop",
            ]),

        // MARK: The edge
        .target(name: "HTTPWire", dependencies: [.product(name: "NIOCore", package: "swift-nio")]),
        // What an operator may decide, as values.
        .target(
            name: "EdgeConfiguration",
            dependencies: ["AuthorizationServer", "IdentityProviders", "JOSE", "SecurityGuard"]),
        // How a refusal is told, and the form of credentials.
        .target(
            name: "Answers",
            dependencies: [
                "AuthorizationServer", "Encodings", "OAuth", "Runtime", "SecurityGuard", "SignIn", "StateSurface",
                "TrafficCop",
            ]),
        // Who calls, and whether what they name is theirs.
        .target(
            name: "Gate",
            dependencies: [
                "Answers", "AuthorizationServer", "Caching", "EdgeConfiguration", "HTTPWire", "Runtime",
                "SecurityGuard", "TrafficCop",
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        // What a connection and those who answer its requests have in common.
        .target(
            name: "EdgeCore",
            dependencies: [
                "Answers", "AuthorizationServer", "EdgeConfiguration", "HTTPWire",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        // What ends an open socket or stream.
        .target(
            name: "Leases",
            dependencies: [
                "Answers", "EdgeConfiguration", "EdgeCore", "Gate", "HTTPWire", "Runtime", "SecurityGuard",
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        .target(
            name: "Proxy",
            dependencies: [
                "Answers", "EdgeConfiguration", "EdgeCore", "Gate", "HTTPWire", "Leases",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        .target(
            name: "Sockets",
            dependencies: [
                "Answers", "EdgeCore", "Gate", "HTTPWire", "Leases", "Proxy", "Runtime", "SecurityGuard",
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        // The JSON and form endpoints; the only target that imports Hummingbird.
        .target(
            name: "GatewayAPI",
            dependencies: [
                "Answers", "AuthorizationServer", "EdgeConfiguration", "Encodings", "IdentityProviders",
                "Libcrypto", "OAuth", "Runtime", "SecurityGuard", "SignIn", "StateSurface", "TrafficCop",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        // The page, the console and the client library.
        .target(
            name: "Web",
            // For programs that are built: they take the client library as a package.
            exclude: ["Assets/gatehouse.d.ts", "Assets/package.json"],
            resources: [
                .embedInCode("Assets/index.html"), .embedInCode("Assets/gatehouse.js"),
                .embedInCode("Assets/console.js"), .embedInCode("Assets/words.js"),
                .embedInCode("Assets/exchanges.js"),
                .embedInCode("Assets/pages.css"), .embedInCode("Assets/console.css"),
                .embedInCode("Assets/sign-in.html"), .embedInCode("Assets/sign-in.js"),
                .embedInCode("Assets/sign-in-page.js"),
                .embedInCode("Assets/inspect.html"), .embedInCode("Assets/inspect.js"),
                .embedInCode("Assets/token-lints.js"),
                .embedInCode("Assets/admin.html"), .embedInCode("Assets/admin.css"), .embedInCode("Assets/admin.js"),
                .embedInCode("Assets/admin-api.js"), .embedInCode("Assets/admin-chart.js"),
                .embedInCode("Assets/admin-list.js"), .embedInCode("Assets/admin-metrics.js"),
                .embedInCode("Assets/admin-overview.js"), .embedInCode("Assets/admin-parts.js"),
                .embedInCode("Assets/admin-rows.js"),
                .embedInCode("Assets/openapi.yaml"), .embedInCode("Assets/favicon.svg"),
                .embedInCode("Assets/openapi-admin.yaml"),
            ]),
        // The operator's API: lists, ending what is open, reasons. Its listener is the edge's.
        .target(
            name: "AdminAPI",
            dependencies: ["Answers", "Encodings", "JOSE", "Runtime", "SecurityGuard", "SignIn", "StateSurface"]),
        // Listeners, connections and the stages of a request.
        .target(
            name: "Edge",
            dependencies: [
                "AdminAPI", "AgentTools", "Answers", "AuthorizationServer", "Caching", "EdgeConfiguration", "EdgeCore",
                "Encodings", "Exposition", "Gate", "GatewayAPI", "HTTPWire", "Leases", "Libcrypto", "Proxy", "Runtime",
                "SecurityGuard", "SignIn", "Sockets", "Spans", "StateSurface", "TrafficCop", "Web",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        // The gateway as a library: puts the modules together and runs them.
        .target(
            name: "Experience",
            dependencies: [
                "AdminAPI", "AgentTools", "Answers", "AuthorizationServer", "Edge", "EdgeConfiguration", "EdgeCore",
                "Encodings",
                "Gate",
                "GatewayAPI", "JOSE", "Leases", "Exposition", "IdentityProviders", "Libcrypto", "Passkeys", "Proxy",
                "Runtime", "SecurityGuard", "SignIn", "Spans", "StateSurface", "TrafficCop", "Webhooks",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .executableTarget(
            name: "gatehouse",
            dependencies: [
                "AdminAPI", "Answers", "AuthorizationServer", "Edge", "EdgeConfiguration", "EdgeCore", "Encodings",
                "Experience", "Exposition", "HostileTokens", "IdentityProviders", "JOSE", "Libcrypto", "OAuth", "Proxy",
                "Runtime", "SecurityGuard", "StateSurface",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ]),

        // MARK: Tests, one target a module; EndToEndTests drives whole gateways, in its process or as the built binary
        .target(name: "PostgresForTests", path: "Tests/PostgresForTests"),
        .target(
            name: "GatewayForTests",
            dependencies: [
                "EdgeConfiguration", "Encodings", "Experience", "Exposition", "Runtime", "SecurityGuard",
                "StateSurface",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/GatewayForTests"),
        .target(name: "RandomForTests", path: "Tests/RandomForTests"),
        // A clock, what collects values, and what waits for a condition.
        .target(name: "BasicsForTests", path: "Tests/BasicsForTests"),
        // The rules of the store's roles, for every store and every fake, and a store in memory for other modules' tests.
        .target(
            name: "StateSurfaceTesting", dependencies: ["BasicsForTests", "StateSurface"],
            path: "Tests/StateSurfaceTesting"),
        .target(name: "DocumentationForTests", path: "Tests/DocumentationForTests"),
        // An authenticator in software, and the browser before it.
        .target(
            name: "PasskeysForTests", dependencies: ["Encodings", "Libcrypto", "Passkeys"],
            path: "Tests/PasskeysForTests"),
        .target(name: "LeasesForTests", dependencies: ["Leases"], path: "Tests/LeasesForTests"),
        // Compiled as another package's would be: it sees what is public and nothing else.
        .testTarget(
            name: "AdopterTests",
            dependencies: [
                "DocumentationForTests", "Experience", "Exposition", "HostileTokens", "JOSE", "Runtime",
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            packageAccess: false),
        .testTarget(name: "CachingTests", dependencies: ["Caching", "RandomForTests"]),
        .testTarget(
            name: "ExpositionTests",
            dependencies: ["Exposition", .product(name: "Metrics", package: "swift-metrics")]),
        .testTarget(
            name: "SpansTests",
            dependencies: ["Spans", .product(name: "Tracing", package: "swift-distributed-tracing")]),
        .testTarget(name: "EncodingsTests", dependencies: ["Encodings", "RandomForTests"]),
        .testTarget(name: "LibcryptoTests", dependencies: ["Libcrypto"]),
        .testTarget(
            name: "JOSETests",
            dependencies: ["DocumentationForTests", "JOSE", "Encodings", "RandomForTests"]),
        .testTarget(
            name: "IdentityProvidersTests",
            dependencies: ["BasicsForTests", "IdentityProviders", "Encodings", "JOSE", "RandomForTests"]),
        .testTarget(
            name: "AuthorizationServerTests",
            dependencies: ["AuthorizationServer", "Encodings", "IdentityProviders", "OAuth"]),
        .testTarget(name: "AgentToolsTests", dependencies: ["AgentTools", "Encodings", "Runtime"]),
        .testTarget(
            name: "PasskeysTests",
            dependencies: ["Passkeys", "PasskeysForTests", "Encodings", "Libcrypto", "RandomForTests"]),
        .testTarget(name: "WebhooksTests", dependencies: ["Webhooks", "Encodings", "JOSE"]),
        .testTarget(name: "HostileTokensTests", dependencies: ["HostileTokens", "JOSE", "Encodings"]),
        .testTarget(
            name: "HTTPWireTests",
            dependencies: [
                "HTTPWire", "RandomForTests",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            exclude: ["Corpus"]),
        .testTarget(
            name: "StateSurfaceTests",
            dependencies: [
                "BasicsForTests", "StateSurface", "StateSurfaceTesting", "Runtime", "TrafficCop", "PostgresForTests",
            ]),
        .testTarget(
            name: "SecurityGuardTests",
            dependencies: [
                "BasicsForTests", "SecurityGuard", "Encodings", "JOSE", "OAuth", "StateSurface", "StateSurfaceTesting",
            ]),
        .testTarget(name: "TrafficCopTests", dependencies: ["BasicsForTests", "TrafficCop"]),
        .testTarget(
            name: "RuntimeTests",
            dependencies: [
                "BasicsForTests", "Runtime", "Encodings", "RandomForTests", "StateSurface", "StateSurfaceTesting",
                "TrafficCop",
            ]),
        .testTarget(
            name: "SignInTests",
            dependencies: [
                "AuthorizationServer", "BasicsForTests", "Encodings", "IdentityProviders", "OAuth", "Runtime",
                "SecurityGuard", "SignIn", "StateSurface", "TrafficCop",
            ]),
        .testTarget(
            name: "GateTests",
            dependencies: [
                "Answers", "EdgeConfiguration", "Gate", "HTTPWire", "Runtime", "SecurityGuard", "SignIn",
                "StateSurface",
                "TrafficCop",
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        .testTarget(
            name: "EdgeCoreTests",
            dependencies: [
                "EdgeConfiguration", "EdgeCore", "HTTPWire", "RandomForTests",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(
            name: "LeasesTests",
            dependencies: [
                "EdgeConfiguration", "Leases", "LeasesForTests", "SecurityGuard", "StateSurface",
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        .testTarget(
            name: "ProxyTests",
            dependencies: [
                "Answers", "EdgeConfiguration", "EdgeCore", "Gate", "HTTPWire", "Leases", "LeasesForTests", "Proxy",
                "RandomForTests",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(
            name: "SocketsTests",
            dependencies: [
                "Answers", "EdgeCore", "Gate", "HTTPWire", "Leases", "LeasesForTests", "Proxy", "RandomForTests",
                "Runtime", "Sockets",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ]),
        .testTarget(
            name: "AdminAPITests",
            dependencies: [
                "AdminAPI", "Answers", "Encodings", "SecurityGuard", "Web", .product(name: "Yams", package: "Yams"),
            ]),
        .testTarget(
            name: "GatewayAPITests",
            dependencies: [
                "BasicsForTests", "Answers", "Edge", "EdgeConfiguration", "EdgeCore", "Encodings", "Gate", "GatewayAPI",
                "IdentityProviders", "Leases", "LeasesForTests", "Libcrypto", "OAuth", "Passkeys", "PasskeysForTests",
                "Proxy", "RandomForTests", "Runtime", "SecurityGuard", "SignIn", "StateSurface", "TrafficCop", "Web",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Yams", package: "Yams"),
            ]),
        .testTarget(
            name: "EdgeTests",
            dependencies: [
                "AgentTools", "Answers", "Edge", "EdgeConfiguration", "EdgeCore", "Gate", "HTTPWire", "Leases",
                "RandomForTests", "Runtime", "Spans", "StateSurface",
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .testTarget(
            name: "ExperienceTests",
            dependencies: [
                "BasicsForTests", "EdgeConfiguration", "Encodings", "Experience", "GatewayForTests", "Passkeys",
                "Spans",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "BasicsForTests", "gatehouse", "EdgeConfiguration", "Encodings", "Experience", "GatewayForTests",
                "IdentityProviders", "JOSE", "PasskeysForTests", "PostgresForTests", "Runtime", "SecurityGuard",
                "StateSurface",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            exclude: ["Scripts"]),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: [
                "AdminAPI", "Answers", "EdgeConfiguration", "Encodings", "Experience", "HostileTokens",
                "IdentityProviders", "JOSE", "SecurityGuard", "StateSurface", "gatehouse",
                .product(name: "Logging", package: "swift-log"),
            ]),
    ]
)

// Benchmarks of the modules, which only the package itself can see into: `make bench-sessions`, and `make test` for the
// tests of what they are given.
if ProcessInfo.processInfo.environment["BENCH"] != nil {
    package.targets.append(
        .executableTarget(
            name: "session-bench", dependencies: ["Caching", "Runtime", "StateSurface", "TrafficCop"],
            path: "Benchmarks/Sessions/Store"))
    package.targets.append(
        .testTarget(
            name: "SessionBenchTests", dependencies: ["session-bench"], path: "Benchmarks/Sessions/Tests"))
}

// The plugin that makes the documentation: `make docs`. It is not needed to build the package.
if ProcessInfo.processInfo.environment["DOCS"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin.git", from: "1.5.0"))
}

// MARK: Fuzzing

// `FUZZ=1` adds the fuzzer and its instrumentation; without it, nothing here exists.
if fuzzing {
    let instrumented: [SwiftSetting] = [.unsafeFlags(["-sanitize=fuzzer,address"])]
    // The fuzzer of the wire compares with the same reference as the tests, whose files it links to.
    package.targets.removeAll { $0.type == .test }
    for target in package.targets where ["Encodings", "Libcrypto", "JOSE", "HTTPWire"].contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + instrumented
    }
    package.targets.append(
        .executableTarget(
            name: "FuzzJOSE", dependencies: ["JOSE", "Encodings"], path: "Fuzzing/JOSE",
            swiftSettings: instrumented + [.unsafeFlags(["-parse-as-library"])],
            // gold gives up on what the sanitizer adds.
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]))
    package.targets.append(
        .executableTarget(
            name: "FuzzHTTPWire",
            dependencies: [
                "HTTPWire", "RandomForTests",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Fuzzing/HTTPWire",
            swiftSettings: instrumented + [.unsafeFlags(["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]))
}

for target in package.targets where target.type != .system {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .swiftLanguageMode(.v6),
            .treatAllWarnings(as: .error),
            .enableUpcomingFeature("ExistentialAny"),
        ]
    // The program sees NIO's C modules beside Glibc, and the compiler attributes a struct such as `stat` to the one
    // that it happened to load first: the same file would build or not, depending on the files it is compiled with.
    if target.name != "gatehouse" {
        target.swiftSettings?.append(.enableUpcomingFeature("MemberImportVisibility"))
    }
}
