// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors where it counts, in CI; a newer compiler's new warning never stops a user's build.
let settings: [SwiftSetting] = Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)]

let package = Package(
    name: "tideline",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Tideline", targets: ["Tideline"]),
        .library(name: "TidelineStore", targets: ["TidelineStore"]),
        .library(name: "TidelineWire", targets: ["TidelineWire"]),
        .library(name: "TidelineSQLite", targets: ["TidelineSQLite"]),
        .library(name: "TidelineAsyncHTTPClient", targets: ["TidelineAsyncHTTPClient"]),
        .library(name: "TidelineServer", targets: ["TidelineServer"]),
        .executable(name: "tideline", targets: ["TidelineTool"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        .target(name: "TidelineStore", swiftSettings: settings),
        .systemLibrary(
            name: "CSQLite",
            path: "Adapters/CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .target(
            name: "TidelineSQLite",
            dependencies: ["TidelineStore", "CSQLite"],
            path: "Adapters/SQLite",
            swiftSettings: settings
        ),
        .target(
            name: "TidelineWire",
            dependencies: ["TidelineStore", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: settings
        ),
        .target(
            name: "Tideline",
            dependencies: [
                "TidelineStore", "TidelineWire",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "TidelineAsyncHTTPClient",
            dependencies: [
                "Tideline",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "TidelineServer",
            dependencies: [
                "TidelineStore", "TidelineWire",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
    ]
)
