// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors in CI only, so that a new warning of a newer compiler does not break a user's build.
let settings: [SwiftSetting] = Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")

let package = Package(
    name: "tideline",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Tideline", targets: ["Tideline"]),
        .library(name: "TidelineStore", targets: ["TidelineStore"]),
        .library(name: "TidelineKeyValue", targets: ["TidelineKeyValue"]),
        .library(name: "TidelineWire", targets: ["TidelineWire"]),
        .library(name: "TidelineSQLite", targets: ["TidelineSQLite"]),
        .library(name: "TidelineLMDB", targets: ["TidelineLMDB"]),
        .library(name: "TidelineLevelDB", targets: ["TidelineLevelDB"]),
        .library(name: "TidelineMemory", targets: ["TidelineMemory"]),
        .library(name: "TidelineAsyncHTTPClient", targets: ["TidelineAsyncHTTPClient"]),
        .library(name: "TidelineServer", targets: ["TidelineServer"]),
        .library(name: "TidelineConformance", targets: ["TidelineConformance"]),
        .library(name: "TidelineConformanceCommand", targets: ["TidelineConformanceCommand"]),
        .library(name: "TidelineFaults", targets: ["TidelineFaults"]),
        .library(name: "TidelineBenchmark", targets: ["TidelineBenchmark"]),
        .library(name: "TidelineBenchmarkCommand", targets: ["TidelineBenchmarkCommand"]),
        .library(name: "TidelineBaselines", targets: ["TidelineBaselines"]),
        .executable(name: "tideline", targets: ["TidelineTool"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        // The interface of a local store. Has no dependencies.
        .target(name: "TidelineStore", swiftSettings: settings),

        // Helpers that the conformance suite, the benchmark and the tool share. Not visible to their users.
        .target(name: "TidelineSupport", swiftSettings: settings),
        .target(
            name: "TidelineCommandSupport",
            dependencies: ["TidelineSupport", argumentParser],
            swiftSettings: settings
        ),

        // The stores over SQLite.
        .systemLibrary(
            name: "CSQLite",
            path: "Adapters/CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .target(name: "CSQLiteChecksums", dependencies: ["CSQLite"], path: "Adapters/CSQLiteChecksums"),
        .target(
            name: "TidelineSQLite",
            dependencies: ["TidelineStore", "CSQLite", "CSQLiteChecksums"],
            path: "Adapters/SQLite",
            swiftSettings: settings
        ),

        // The store over any ordered key-value engine, and the engines.
        .target(name: "TidelineKeyValue", dependencies: ["TidelineStore"], swiftSettings: settings),
        .target(
            name: "TidelineMemory",
            dependencies: ["TidelineStore", "TidelineKeyValue"],
            path: "Adapters/Memory",
            swiftSettings: settings
        ),
        .systemLibrary(
            name: "CLMDB",
            path: "Adapters/CLMDB",
            pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]
        ),
        .target(
            name: "TidelineLMDB",
            dependencies: ["TidelineStore", "TidelineKeyValue", "CLMDB"],
            path: "Adapters/LMDB",
            swiftSettings: settings
        ),
        // LevelDB has no pkg-config file.
        .systemLibrary(
            name: "CLevelDB",
            path: "Adapters/CLevelDB",
            providers: [.apt(["libleveldb-dev"]), .brew(["leveldb"])]
        ),
        .target(
            name: "TidelineLevelDB",
            dependencies: ["TidelineStore", "TidelineKeyValue", "CLevelDB"],
            path: "Adapters/LevelDB",
            swiftSettings: settings
        ),

        // Sync: the wire protocol that client and server share, the client, and the server.
        .target(name: "TidelineWire", dependencies: ["TidelineStore", httpTypes], swiftSettings: settings),
        .target(
            name: "Tideline",
            dependencies: ["TidelineStore", "TidelineWire", httpTypes, logging],
            swiftSettings: settings
        ),
        .target(
            name: "TidelineAsyncHTTPClient",
            dependencies: [
                "Tideline", httpTypes, nioCore, nioPosix,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "TidelineServer",
            dependencies: ["TidelineStore", "TidelineWire", httpTypes],
            swiftSettings: settings
        ),

        // The conformance suite, as a library and as a command; and a layer around the file calls of the program that
        // links it, for fault injection and crash recording.
        .target(
            name: "TidelineConformance",
            dependencies: ["TidelineStore", "TidelineSupport"],
            path: "Conformance/Suite",
            swiftSettings: settings
        ),
        .target(
            name: "TidelineConformanceCommand",
            dependencies: [
                "TidelineCommandSupport", "TidelineConformance", "TidelineStore", "TidelineSupport", argumentParser,
            ],
            path: "Conformance/Command",
            swiftSettings: settings
        ),
        .target(name: "CFileCalls", path: "Conformance/CFileCalls"),
        .target(
            name: "TidelineFaults",
            dependencies: ["TidelineConformance", "CFileCalls"],
            path: "Conformance/Faults",
            swiftSettings: settings
        ),

        // The benchmark: workloads, measurement and reports, as a library and as a command.
        .target(
            name: "TidelineBenchmark",
            dependencies: [
                "Tideline", "TidelineMemory", "TidelineServer", "TidelineStore", "TidelineSupport", "TidelineWire",
                httpTypes,
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            path: "Benchmarks/Suite",
            swiftSettings: settings
        ),
        .target(
            name: "TidelineBenchmarkCommand",
            dependencies: [
                "TidelineBenchmark", "TidelineCommandSupport", "TidelineStore", "TidelineSupport", argumentParser,
            ],
            path: "Benchmarks/Command",
            swiftSettings: settings
        ),
        // The same workloads on the engines' C interfaces: the baselines that the stores are compared with.
        // No pkg-config: for simdjson, it prints a flag that the package manager rejects, and none that is needed.
        .systemLibrary(
            name: "CSimdJSON",
            path: "Benchmarks/CSimdJSON",
            providers: [.apt(["libsimdjson-dev"]), .brew(["simdjson"])]
        ),
        .target(
            name: "CBaselines",
            dependencies: ["CSQLite", "CLMDB", "CLevelDB", "CSimdJSON"],
            path: "Benchmarks/CBaselines",
            linkerSettings: [.linkedLibrary("leveldb"), .linkedLibrary("simdjson")]
        ),
        .target(
            name: "TidelineBaselines",
            dependencies: ["CBaselines", "TidelineBenchmark", "TidelineStore"],
            path: "Benchmarks/Baselines",
            swiftSettings: settings
        ),

        // The command-line tool.
        .executableTarget(
            name: "TidelineTool",
            dependencies: [
                "Tideline", "TidelineAsyncHTTPClient", "TidelineServer", "TidelineStore",
                "TidelineSupport", "TidelineCommandSupport",
                "TidelineBaselines", "TidelineBenchmark", "TidelineBenchmarkCommand",
                "TidelineConformance", "TidelineConformanceCommand", "TidelineFaults",
                "TidelineLMDB", "TidelineLevelDB", "TidelineMemory", "TidelineSQLite",
                argumentParser, httpTypes, logging, nioCore, nioPosix,
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: settings
        ),

        // The work that the benchmark scripts count; see the scripts in its folder.
        .executableTarget(
            name: "QueueCost",
            dependencies: [
                "Tideline", "TidelineServer", "TidelineStore",
                "TidelineLMDB", "TidelineLevelDB", "TidelineMemory", "TidelineSQLite",
                httpTypes,
            ],
            path: "Benchmarks/QueueCost",
            swiftSettings: settings
        ),

        .target(name: "CMeasured", path: "Benchmarks/CMeasured"),
        .executableTarget(
            name: "InstructionProbe",
            dependencies: [
                "CMeasured", "TidelineBaselines", "TidelineBenchmark", "TidelineStore",
                "TidelineLMDB", "TidelineLevelDB", "TidelineMemory", "TidelineSQLite",
            ],
            path: "Benchmarks/InstructionProbe",
            swiftSettings: settings
        ),

        // Tests. StoreProbe is a process that the conformance suite kills. SortedFileStore is the custom store example.
        .target(
            name: "TidelineTestSupport",
            dependencies: ["TidelineStore"],
            path: "Tests/TidelineTestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "SortedFileStore",
            dependencies: ["TidelineStore", "TidelineKeyValue"],
            path: "Examples/CustomStore/Sources/SortedFileStore",
            swiftSettings: settings
        ),
        .target(
            name: "TidelineTestStores",
            dependencies: [
                "SortedFileStore", "TidelineStore", "TidelineKeyValue", "TidelineLMDB", "TidelineLevelDB",
                "TidelineMemory", "TidelineSQLite",
                "TidelineConformance", "TidelineFaults", "TidelineTestSupport",
            ],
            path: "Tests/TidelineTestStores",
            swiftSettings: settings
        ),
        // A simple store that keeps every promise, and variants that break one.
        .target(
            name: "BrokenStores",
            dependencies: ["TidelineStore", "TidelineConformance"],
            path: "Tests/BrokenStores",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "StoreProbe",
            dependencies: [
                "BrokenStores", "SortedFileStore", "TidelineStore", "TidelineLMDB", "TidelineLevelDB", "TidelineSQLite",
                "TidelineConformance",
            ],
            path: "Tests/StoreProbe",
            swiftSettings: settings
        ),
        // A client process that tests kill during a pull.
        .executableTarget(
            name: "PullProbe",
            dependencies: [
                "Tideline", "TidelineStore", "TidelineLMDB", "TidelineLevelDB", "TidelineSQLite", "TidelineTestSupport",
                httpTypes,
            ],
            path: "Tests/PullProbe",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "CommandProbe",
            dependencies: ["TidelineConformance", "TidelineConformanceCommand", "TidelineMemory", "TidelineStore"],
            path: "Tests/CommandProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "TidelineConformanceTests",
            dependencies: [
                "BrokenStores", "TidelineConformance", "TidelineConformanceCommand", "TidelineFaults", "TidelineStore",
                "TidelineKeyValue", "TidelineMemory", "TidelineTestStores", "TidelineTestSupport", "TidelineSupport",
                "TidelineCommandSupport", "StoreProbe",
                "CommandProbe",
                argumentParser,
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "BenchProbe",
            dependencies: [
                "TidelineBenchmark", "TidelineBenchmarkCommand", "TidelineMemory", "TidelineStore", argumentParser,
            ],
            path: "Tests/BenchProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "TidelineBenchmarkTests",
            dependencies: [
                "BenchProbe",
                "SortedFileStore", "Tideline", "TidelineBaselines", "TidelineBenchmark", "TidelineBenchmarkCommand",
                "TidelineCommandSupport", "TidelineMemory", "TidelineServer", "TidelineStore", "TidelineSupport",
                "TidelineTestStores", "TidelineTestSupport", "TidelineWire", argumentParser, httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TidelineStoreTests",
            dependencies: ["TidelineStore", "TidelineConformance", "TidelineTestSupport", "TidelineSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TidelineSQLiteTests",
            dependencies: [
                "TidelineStore", "TidelineSQLite", "TidelineTestStores", "TidelineConformance", "TidelineTestSupport",
                "TidelineSupport",
                "CSQLite", "StoreProbe",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TidelineKeyValueTests",
            dependencies: [
                "SortedFileStore", "TidelineStore", "TidelineKeyValue", "TidelineLMDB", "TidelineLevelDB",
                "TidelineMemory",
                "TidelineConformance", "TidelineTestSupport", "TidelineSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TidelineLMDBTests",
            dependencies: [
                "TidelineStore", "TidelineKeyValue", "TidelineLMDB", "TidelineTestStores", "TidelineConformance",
                "TidelineTestSupport", "TidelineSupport",
                "CLMDB", "StoreProbe",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TidelineLevelDBTests",
            dependencies: [
                "TidelineStore", "TidelineKeyValue", "TidelineLevelDB", "TidelineTestStores", "TidelineConformance",
                "TidelineTestSupport", "TidelineSupport",
                "CLevelDB", "StoreProbe",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TidelineWireTests",
            dependencies: [
                "TidelineStore", "TidelineWire", "TidelineConformance", "TidelineTestSupport", "TidelineSupport",
                httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TidelineServerTests",
            dependencies: [
                "TidelineStore", "TidelineWire", "TidelineServer", "TidelineTestStores", "TidelineConformance",
                "TidelineTestSupport", "TidelineSupport",
                httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TidelineTests",
            dependencies: [
                "Tideline", "TidelineStore", "TidelineWire", "TidelineServer", "TidelineSupport", "TidelineTestStores",
                "TidelineConformance", "TidelineTestSupport", "PullProbe", httpTypes, logging,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TidelineAsyncHTTPClientTests",
            dependencies: [
                "Tideline", "TidelineAsyncHTTPClient", "TidelineMemory", "TidelineStore", httpTypes, nioCore, nioPosix,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TidelineToolTests",
            dependencies: [
                "Tideline", "TidelineAsyncHTTPClient", "TidelineServer", "TidelineSQLite", "TidelineStore",
                "TidelineTestStores", "TidelineConformance", "TidelineTestSupport", "TidelineSupport",
                "TidelineCommandSupport", "TidelineTool", argumentParser,
                httpTypes, logging, nioCore,
            ],
            swiftSettings: settings
        ),
    ],
    cxxLanguageStandard: .cxx17
)
