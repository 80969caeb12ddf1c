// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// Warnings are errors in CI only, so that a warning of a newer compiler does not break a user's build.
let settings: [SwiftSetting] =
    (Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)])
    + ["ExistentialAny", "InternalImportsByDefault"].map { .enableUpcomingFeature($0) }
// Not where members of C structures are used: their module depends on the order in which modules are built.
let pure = settings + [.enableUpcomingFeature("MemberImportVisibility")]
let strict = pure + [.strictMemorySafety()]
// `make test` optimizes the libraries that do most of the work, and keeps their assertions: the tests take half as long.
let isOptimized = Context.environment["TIDELINE_OPTIMIZE"] != nil
let optimizedTargets: Set = [
    "Tideline", "TidelineKeyValue", "TidelineLevelDB", "TidelineLevelDBVerification", "TidelineLive", "TidelineLMDB",
    "TidelineLMDBVerification", "TidelineMemory", "TidelinePostgreSQL", "TidelineServer", "TidelineSimulation",
    "TidelineSQLite", "TidelineStore", "TidelineSupport", "TidelineWire",
]
let optimization: [SwiftSetting] = [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

// Packages that only some users need belong to a trait, and so does the code that imports them (`#if Tool`): without
// traits, everything else builds. All of the package builds with `--enable-all-traits`.
let commands = TargetDependencyCondition.when(traits: ["Commands"])
let client = TargetDependencyCondition.when(traits: ["AsyncHTTPClient"])
let serve = TargetDependencyCondition.when(traits: ["Serve"])
let tool = TargetDependencyCondition.when(traits: ["Tool"])
let macros = TargetDependencyCondition.when(traits: ["Macros"])

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: commands)
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nio = ["NIOCore", "NIOHTTP1", "NIOPosix"].map {
    Target.Dependency.product(name: $0, package: "swift-nio", condition: client)
}
let jwt = Target.Dependency.product(name: "JWTKit", package: "jwt-kit", condition: tool)
/// Returns products of swift-syntax.
func swiftSyntax(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "swift-syntax", condition: macros) }
}

let libraries = [
    "Tideline", "TidelineMacros", "TidelineStore", "TidelineLive", "TidelineKeyValue", "TidelineSQLite", "TidelineLMDB",
    "TidelineLevelDB", "TidelinePostgreSQL",
    "TidelineMemory", "TidelineURLSession", "TidelineAsyncHTTPClient", "TidelineServer", "TidelineSimulation",
    "TidelineConformance", "TidelineConformanceCommand", "TidelineServerConformance", "TidelineFaults",
    "TidelineBenchmark",
    "TidelineBenchmarkCommand", "TidelineBaselines",
]
let keyValue: [Target.Dependency] = ["TidelineStore", "TidelineKeyValue"]
let keyValueTests: [Target.Dependency] = ["TidelineKeyValue", "TidelineTestStores", "StoreProbe"]
let stores: [Target.Dependency] = ["TidelineLMDB", "TidelineLevelDB", "TidelineMemory", "TidelineSQLite"]

/// Returns a library target, in `Sources` unless a path is given.
func library(
    _ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil, settings: [SwiftSetting] = settings
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: path,
        swiftSettings: settings + (isOptimized && optimizedTargets.contains(name) ? optimization : []))
}

func executable(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

/// Returns a program that tests or scripts start.
func probe(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    executable(name, dependencies, path: "Tests/\(name)")
}

/// Returns dependencies on targets that belong to a trait.
func targets(_ names: [String], of trait: String) -> [Target.Dependency] {
    names.map { .target(name: $0, condition: .when(traits: [trait])) }
}

func cLibrary(_ name: String, path: String, pkgConfig: String? = nil, apt: String, brew: String) -> Target {
    .systemLibrary(name: name, path: path, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: name,
        dependencies: [
            "CTestDefaults", "TidelineStore", "TidelineConformance", "TidelineSupport", "TidelineTestSupport",
        ]
            + dependencies,
        swiftSettings: settings)
}

let package = Package(
    name: "tideline",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: libraries.map { .library(name: $0, targets: [$0]) } + [
        .executable(name: "tideline", targets: ["TidelineTool"])
    ],
    traits: [
        .trait(name: "AsyncHTTPClient", description: "The transport over async-http-client: TidelineAsyncHTTPClient"),
        .trait(name: "Commands", description: "The conformance suite and the benchmark as libraries for commands"),
        .trait(name: "Macros", description: "The macro @Table: TidelineMacros"),
        .trait(
            name: "PostgreSQL", description: "Stores in PostgreSQL databases for the tool, which then needs libpq",
            enabledTraits: ["Serve"]),
        .trait(
            name: "Serve",
            description: "The parts of the tool that `make demo` uses: serve without sign-in, todo, and demo",
            enabledTraits: ["AsyncHTTPClient", "Commands"]),
        .trait(
            name: "Tool", description: "The command-line tool, the product tideline, without its benchmark",
            enabledTraits: ["Serve"]),
        .trait(
            name: "Benchmark", description: "`tideline bench`, which needs simdjson, and everything else",
            enabledTraits: ["Macros", "PostgreSQL", "Tool"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // The interface of a local store. Has no dependencies.
        library("TidelineStore", settings: strict),

        // Helpers that the conformance suite, the benchmark and the tool share. Not visible to their users.
        library("TidelineSupport", settings: pure),
        library("TidelineCommandSupport", ["TidelineStore", "TidelineSupport", argumentParser]),

        // Live queries over any store.
        library("TidelineLive", ["TidelineStore", "CCommitSignal"], settings: strict),
        .systemLibrary(name: "CCommitSignal", path: "Sources/CCommitSignal"),

        // The store over any ordered key-value engine, and the stores.
        library("TidelineKeyValue", ["TidelineStore"], settings: strict),
        library("TidelineMemory", keyValue, path: "Adapters/Memory", settings: pure),
        library("TidelineSQLite", ["TidelineStore", "CSQLite", "CSQLiteChecksums"], path: "Adapters/SQLite"),
        library("TidelineLMDB", keyValue + ["TidelineLMDBVerification", "CLMDB"], path: "Adapters/LMDB"),
        library("TidelineLMDBVerification", ["TidelineStore"], path: "Adapters/LMDBVerification"),
        library("TidelineLevelDB", keyValue + ["TidelineLevelDBVerification", "CLevelDB"], path: "Adapters/LevelDB"),
        library("TidelineLevelDBVerification", ["TidelineStore"], path: "Adapters/LevelDBVerification"),
        library("TidelinePostgreSQL", ["TidelineStore", "CPostgreSQL"], path: "Adapters/PostgreSQL"),
        .target(name: "CSQLiteChecksums", dependencies: ["CSQLite"], path: "Adapters/CSQLiteChecksums"),
        cLibrary("CSQLite", path: "Adapters/CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
        cLibrary("CLMDB", path: "Adapters/CLMDB", pkgConfig: "lmdb", apt: "liblmdb-dev", brew: "lmdb"),
        cLibrary("CPostgreSQL", path: "Adapters/CPostgreSQL", pkgConfig: "libpq", apt: "libpq-dev", brew: "libpq"),
        // LevelDB has no pkg-config file.
        cLibrary("CLevelDB", path: "Adapters/CLevelDB", apt: "libleveldb-dev", brew: "leveldb"),

        // Sync: the wire protocol that client and server share, the client, and the server.
        library("TidelineWire", ["TidelineStore", httpTypes], settings: pure),
        library("Tideline", ["TidelineLive", "TidelineStore", "TidelineWire", httpTypes, logging], settings: pure),
        // The macro for typed tables. Its expansion is a library, because a test target that depends on a macro target makes
        // the package manager build all tests for the host. The plug-in is the program that the compiler starts.
        library("TidelineMacros", ["Tideline", "TidelineStore", "TidelineMacroPlugin"], settings: pure),
        library(
            "TidelineMacroExpansion",
            swiftSyntax("SwiftDiagnostics", "SwiftParser", "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros")),
        .macro(
            name: "TidelineMacroPlugin",
            dependencies: ["TidelineMacroExpansion"]
                + swiftSyntax("SwiftCompilerPlugin", "SwiftSyntax", "SwiftSyntaxMacros"), swiftSettings: settings),
        library("TidelineURLSession", ["Tideline", httpTypes], settings: pure),
        library(
            "TidelineAsyncHTTPClient",
            nio + [
                "Tideline", httpTypes,
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: client),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras", condition: client),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: client),
            ]),
        library("TidelineServer", ["TidelineStore", "TidelineWire", httpTypes], settings: pure),
        // The deterministic simulation of devices, network, and server.
        library(
            "TidelineSimulation",
            [
                "Tideline", "TidelineMemory", "TidelineServer", "TidelineStore", "TidelineSupport", "TidelineWire",
                httpTypes, logging,
            ], settings: pure),

        // The conformance suite, as a library and as a command; and a layer around the file calls of the program that
        // links it, for fault injection and crash recording.
        library(
            "TidelineConformance", ["TidelineKeyValue", "TidelineLive", "TidelineStore", "TidelineSupport"],
            path: "Conformance/Suite"),
        library(
            "TidelineConformanceCommand",
            ["TidelineCommandSupport", "TidelineConformance", "TidelineStore", "TidelineSupport", argumentParser],
            path: "Conformance/Command"),
        // The conformance suite for servers, with the same reports.
        library(
            "TidelineServerConformance",
            ["Tideline", "TidelineConformance", "TidelineStore", "TidelineWire", httpTypes], path: "Conformance/Server"),
        .target(name: "CFileCalls", path: "Conformance/CFileCalls"),
        library("TidelineFaults", ["TidelineConformance", "CFileCalls"], path: "Conformance/Faults"),

        // The benchmark: workloads, measurement and reports, as a library and as a command.
        library(
            "TidelineBenchmark",
            [
                "Tideline", "TidelineLive", "TidelineMemory", "TidelineServer", "TidelineStore", "TidelineSupport",
                "TidelineWire", httpTypes,
                .product(name: "Histogram", package: "hdrhistogram-swift", condition: commands),
            ], path: "Benchmarks/Suite"),
        library(
            "TidelineBenchmarkCommand",
            ["TidelineBenchmark", "TidelineCommandSupport", "TidelineStore", "TidelineSupport", argumentParser],
            path: "Benchmarks/Command"),
        // The same workloads on the engines' C interfaces: the baselines that the stores are compared with.
        // No pkg-config: for simdjson, it prints a flag that the package manager rejects, and none that is needed.
        cLibrary("CSimdJSON", path: "Benchmarks/CSimdJSON", apt: "libsimdjson-dev", brew: "simdjson"),
        .target(
            name: "CBaselines", dependencies: ["CSQLite", "CLMDB", "CLevelDB", "CSimdJSON"],
            path: "Benchmarks/CBaselines", linkerSettings: [.linkedLibrary("leveldb"), .linkedLibrary("simdjson")]),
        library(
            "TidelineBaselines", ["CBaselines", "TidelineBenchmark", "TidelineStore"], path: "Benchmarks/Baselines"),
        // The work that the benchmark scripts count; see the scripts in its folder.
        executable(
            "QueueCost", ["Tideline", "TidelineServer", "TidelineStore", httpTypes] + stores,
            path: "Benchmarks/QueueCost"),
        .target(name: "CMeasured", path: "Benchmarks/CMeasured"),
        executable(
            "InstructionProbe",
            ["CMeasured", "TidelineBaselines", "TidelineBenchmark", "TidelineStore", "TidelineSupport"] + stores,
            path: "Benchmarks/InstructionProbe"),

        // The command-line tool.
        cLibrary("CZlib", path: "Sources/CZlib", pkgConfig: "zlib", apt: "zlib1g-dev", brew: "zlib"),
        executable(
            "TidelineTool",
            stores + nio + [
                "CZlib", "Tideline", "TidelineAsyncHTTPClient", "TidelineServer", "TidelineStore", "TidelineSupport",
                "TidelineCommandSupport", argumentParser, httpTypes, jwt, logging,
                .product(name: "Metrics", package: "swift-metrics", condition: serve),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: serve),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: serve),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras", condition: serve),
                .product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras", condition: serve),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: serve),
                .product(name: "NIOTLS", package: "swift-nio", condition: serve),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: serve),
                .product(name: "Yams", package: "Yams", condition: serve),
            ]
                + targets(
                    [
                        "TidelineConformance", "TidelineConformanceCommand", "TidelineFaults",
                        "TidelineServerConformance", "TidelineSimulation",
                    ], of: "Tool")
                + targets(["TidelinePostgreSQL"], of: "PostgreSQL")
                + targets(["TidelineBaselines", "TidelineBenchmark", "TidelineBenchmarkCommand"], of: "Benchmark")),

        // Apps to look at: a to-do list in the terminal, and one as a local web page, which scripts/web starts.
        executable(
            "TodoApp", ["Tideline", "TidelineAsyncHTTPClient", "TidelineMacros", "TidelineSQLite", "TidelineSupport"],
            path: "Examples/TodoApp"),
        .executableTarget(
            name: "TodoWeb",
            dependencies: [
                "Tideline", "TidelineAsyncHTTPClient", "TidelineSQLite", "TidelineSupport", argumentParser, httpTypes,
                logging, .product(name: "Hummingbird", package: "hummingbird", condition: tool),
            ], path: "Examples/TodoWeb", resources: [.embedInCode("page.html")], swiftSettings: settings),

        // Programs that tests start, and their helpers. SortedFileStore is the custom store example, BrokenStores a
        // simple store that keeps every promise, and variants that break one.
        .target(name: "CTestDefaults", path: "Tests/CTestDefaults"),
        .target(name: "CFrameworkNames", path: "Tests/CFrameworkNames"),
        library("TidelineTestSupport", ["TidelineStore"], path: "Tests/TidelineTestSupport"),
        library("SortedFileStore", keyValue, path: "Examples/CustomStore/Sources/SortedFileStore"),
        library(
            "TidelineTestStores",
            stores + [
                "SortedFileStore", "TidelineLive", "TidelineStore", "TidelineKeyValue", "TidelineConformance",
                "TidelineFaults",
                "TidelineTestSupport",
            ],
            path: "Tests/TidelineTestStores"),
        library(
            "BrokenStores", ["TidelineConformance", "TidelineKeyValue", "TidelineStore"], path: "Tests/BrokenStores"),
        probe(
            "StoreProbe",
            stores + [
                "TidelinePostgreSQL", "BrokenStores", "SortedFileStore", "TidelineStore", "TidelineConformance",
                "TidelineTestSupport",
            ]),
        probe("PullProbe", stores + ["Tideline", "TidelineStore", "TidelineTestSupport", httpTypes]),
        probe("PushProbe", stores + ["Tideline", "TidelineStore", "TidelineTestSupport", httpTypes]),
        probe(
            "CommandProbe",
            ["TidelineConformance", "TidelineConformanceCommand", "TidelineMemory", "TidelineStore", "TidelineSupport"]),
        probe(
            "BenchProbe",
            [
                "TidelineBenchmark", "TidelineBenchmarkCommand", "TidelineMemory", "TidelineStore", "TidelineSupport",
                argumentParser,
            ]),
        probe("SimulationProbe", ["TidelineSimulation"]),

        // The public API as users write it: every name beside Foundation, and one app over every store.
        .testTarget(
            name: "TidelineAPITests",
            dependencies: libraries.map { .target(name: $0) }
                + ["CFrameworkNames", "CTestDefaults", "TidelineTestSupport", httpTypes],
            packageAccess: false, swiftSettings: settings),
        tests(
            "TidelineConformanceTests",
            [
                "BrokenStores", "TidelineConformanceCommand", "TidelineFaults", "TidelineKeyValue", "TidelineMemory",
                "TidelineTestStores", "TidelineCommandSupport", "StoreProbe", "CommandProbe", argumentParser,
            ]),
        tests(
            "TidelineBenchmarkTests",
            [
                "BenchProbe", "SortedFileStore", "Tideline", "TidelineBaselines", "TidelineBenchmark",
                "TidelineBenchmarkCommand", "TidelineCommandSupport", "TidelineMemory", "TidelineServer",
                "TidelineTestStores", "TidelineWire", argumentParser, httpTypes,
            ]),
        tests("TidelineStoreTests"),
        tests(
            "TidelineMacroTests",
            ["Tideline", "TidelineMacroExpansion", "TidelineMacros", "TidelineMemory"]
                + swiftSyntax(
                    "SwiftDiagnostics", "SwiftParser", "SwiftSyntax", "SwiftSyntaxMacroExpansion", "SwiftSyntaxMacros")),
        tests("TidelineLiveTests", stores + ["TidelineLive", "TidelineTestStores", "StoreProbe"]),
        tests("TidelineSQLiteTests", ["TidelineSQLite", "TidelineTestStores", "CSQLite", "StoreProbe"]),
        tests(
            "TidelinePostgreSQLTests",
            ["TidelinePostgreSQL", "TidelineTestStores", "TidelineTool", "CPostgreSQL", "StoreProbe"]),
        tests("TidelineKeyValueTests", stores + ["SortedFileStore", "TidelineKeyValue"]),
        tests("TidelineLMDBTests", ["TidelineLMDB", "TidelineLMDBVerification", "CLMDB"] + keyValueTests),
        tests("TidelineLevelDBTests", ["TidelineLevelDB", "TidelineLevelDBVerification", "CLevelDB"] + keyValueTests),
        tests("TidelineWireTests", ["TidelineWire", httpTypes]),
        tests(
            "TidelineServerTests",
            ["TidelinePostgreSQL", "TidelineServer", "TidelineTestStores", "TidelineTool", "TidelineWire", httpTypes]),
        tests(
            "TidelineServerConformanceTests",
            [
                "Tideline", "TidelineServer", "TidelineServerConformance", "TidelineTestStores", "TidelineWire",
                httpTypes,
            ]),
        tests("TidelineSimulationTests", stores + ["Tideline", "TidelineSimulation"]),
        tests(
            "TidelineTests",
            [
                "Tideline", "TidelineLive", "TidelineWire", "TidelineServer", "TidelineSimulation",
                "TidelineTestStores",
                "PullProbe", "PushProbe", httpTypes, logging,
            ]),
        tests(
            "TidelineTransportTests",
            ["Tideline", "TidelineAsyncHTTPClient", "TidelineMemory", "TidelineURLSession", httpTypes] + nio),
        tests(
            "TidelineToolTests",
            nio + [
                "Tideline", "TidelineAsyncHTTPClient", "TidelineServer", "TidelineSQLite", "TidelineTestStores",
                "TidelineCommandSupport", "TidelineSimulation", "TidelineTool", "TodoApp", argumentParser, httpTypes,
                jwt, logging, .product(name: "NIOEmbedded", package: "swift-nio", condition: client),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: tool),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: tool),
                .product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras", condition: tool),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: tool),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: tool),
                .product(name: "Metrics", package: "swift-metrics", condition: tool),
            ]),
    ],
    cxxLanguageStandard: .cxx17
)
