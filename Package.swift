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
// `make test` optimizes the libraries that do most of the work, and keeps their assertions: the tests take half as
// long.
let isOptimized = Context.environment["TIDELINE_OPTIMIZE"] != nil
let optimizedTargets: Set = [
    "Tideline", "TidelineKeyValue", "TidelineLevelDB", "TidelineLive", "TidelineLMDB", "TidelineMemory",
    "TidelinePostgreSQL", "TidelineServer", "TidelineSimulation", "TidelineSQLite", "TidelineStore", "TidelineSupport",
    "TidelineWire",
]
let optimization: [SwiftSetting] = [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

/// Returns dependencies on targets and on products, each as `package/product`, that belong to a trait if one is given.
///
/// Packages that only some users need belong to a trait, and so does the code that imports them (`#if Tool`): without
/// traits, everything else builds. All of the package builds with `--enable-all-traits`.
func needs(_ names: String..., of trait: String? = nil) -> [Target.Dependency] {
    let condition = trait.flatMap { TargetDependencyCondition.when(traits: [$0]) }
    return names.map { name in
        let parts = name.split(separator: "/").map(String.init)
        if parts.count == 1 { return .target(name: name, condition: condition) }
        return .product(name: parts[1], package: parts[0], condition: condition)
    }
}

func syntax(_ names: String...) -> [Target.Dependency] { names.flatMap { needs("swift-syntax/\($0)", of: "Macros") } }

let argumentParser = needs("swift-argument-parser/ArgumentParser", of: "Commands")
let http = needs("swift-http-types/HTTPTypes")
let logging = needs("swift-log/Logging")
let nio = needs("swift-nio/NIOCore", "swift-nio/NIOHTTP1", "swift-nio/NIOPosix", of: "AsyncHTTPClient")
let core: [Target.Dependency] = ["Tideline", "TidelineStore"] + http
let keyValue: [Target.Dependency] = ["TidelineStore", "TidelineKeyValue"]
let stores: [Target.Dependency] = ["TidelineLMDB", "TidelineLevelDB", "TidelineMemory", "TidelineSQLite"]

let libraries = [
    "Tideline", "TidelineMacros", "TidelineStore", "TidelineLive", "TidelineKeyValue", "TidelineSQLite", "TidelineLMDB",
    "TidelineLevelDB", "TidelinePostgreSQL", "TidelineMemory", "TidelineURLSession", "TidelineAsyncHTTPClient",
    "TidelineServer", "TidelineSimulation", "TidelineConformance", "TidelineServerConformance", "TidelineFaults",
    "TidelineBenchmark", "TidelineBaselines",
]

/// Returns a library target, in `Sources` unless a path is given, with a group of dependencies and further ones.
func library(
    _ name: String, _ group: [Target.Dependency] = [], _ others: Target.Dependency..., path: String? = nil,
    settings: [SwiftSetting] = settings
) -> Target {
    .target(
        name: name, dependencies: group + others, path: path,
        swiftSettings: settings + (isOptimized && optimizedTargets.contains(name) ? optimization : []))
}

func executable(
    _ name: String, _ group: [Target.Dependency], _ others: Target.Dependency..., path: String? = nil,
    resources: [Resource] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: group + others, path: path, resources: resources, swiftSettings: settings)
}

func cLibrary(_ name: String, path: String, pkgConfig: String? = nil, apt: String, brew: String) -> Target {
    .systemLibrary(name: name, path: path, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

func tests(_ name: String, _ group: [Target.Dependency] = [], _ others: Target.Dependency...) -> Target {
    let helpers = needs(
        "CTestSupport", "TidelineConformance", "TidelineSupport", "TidelineTestStores", "TidelineTestSupport")
    return .testTarget(name: name, dependencies: core + helpers + group + others, swiftSettings: settings)
}

let package = Package(
    name: "tideline",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: libraries.map { .library(name: $0, targets: [$0]) }
        + [.executable(name: "tideline", targets: ["TidelineTool"])],
    traits: [
        .trait(name: "AsyncHTTPClient", description: "The transport over async-http-client: TidelineAsyncHTTPClient"),
        .trait(name: "Commands", description: "The conformance suite and the benchmark as libraries for commands"),
        .trait(name: "Macros", description: "The macro @Table: TidelineMacros"),
        .trait(
            name: "PostgreSQL", description: "Stores in PostgreSQL databases for the tool, which then needs libpq",
            enabledTraits: ["Serve"]),
        .trait(
            name: "Serve", description: "The parts of the tool for `make demo`: serve without sign-in, todo, and demo",
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
        library("TidelineSupport", ["TidelineStore"] + argumentParser),
        // Live queries over any store.
        library("TidelineLive", ["TidelineStore", "CCommitSignal"], settings: strict),
        .systemLibrary(name: "CCommitSignal", path: "Sources/CCommitSignal"),

        // The store over any ordered key-value engine, and the stores.
        library("TidelineKeyValue", ["TidelineStore"], settings: strict),
        library("TidelineMemory", keyValue, path: "Adapters/Memory", settings: pure),
        library("TidelineSQLite", ["TidelineStore", "CSQLite", "CSQLiteChecksums"], path: "Adapters/SQLite"),
        library("TidelineLMDB", keyValue + ["CLMDB"], path: "Adapters/LMDB"),
        library("TidelineLevelDB", keyValue + ["CLevelDB"], path: "Adapters/LevelDB"),
        library("TidelinePostgreSQL", ["TidelineStore", "CPostgreSQL"], path: "Adapters/PostgreSQL"),
        .target(name: "CSQLiteChecksums", dependencies: ["CSQLite"], path: "Adapters/CSQLiteChecksums"),
        cLibrary("CSQLite", path: "Adapters/CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
        cLibrary("CLMDB", path: "Adapters/CLMDB", pkgConfig: "lmdb", apt: "liblmdb-dev", brew: "lmdb"),
        cLibrary("CPostgreSQL", path: "Adapters/CPostgreSQL", pkgConfig: "libpq", apt: "libpq-dev", brew: "libpq"),
        // LevelDB has no pkg-config file.
        cLibrary("CLevelDB", path: "Adapters/CLevelDB", apt: "libleveldb-dev", brew: "leveldb"),

        // Sync: the wire protocol that client and server share, the client, and the server.
        library("TidelineWire", ["TidelineStore"] + http, settings: pure),
        library("Tideline", ["TidelineLive", "TidelineStore", "TidelineWire"] + http + logging, settings: pure),
        // The macro for typed tables, and the program that the compiler starts for it. Nothing else links swift-syntax,
        // which would then be compiled twice, for the host and for the target.
        library("TidelineMacros", ["Tideline", "TidelineStore", "TidelineMacroPlugin"], settings: pure),
        .macro(
            name: "TidelineMacroPlugin",
            dependencies: syntax(
                "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftParser", "SwiftSyntax", "SwiftSyntaxBuilder",
                "SwiftSyntaxMacroExpansion", "SwiftSyntaxMacros"), swiftSettings: settings),
        library("TidelineURLSession", ["Tideline"] + http, settings: pure),
        library(
            "TidelineAsyncHTTPClient",
            ["Tideline"] + http + nio
                + needs(
                    "async-http-client/AsyncHTTPClient", "swift-nio-extras/NIOHTTPCompression",
                    "swift-nio-http2/NIOHTTP2", "swift-nio-ssl/NIOSSL", of: "AsyncHTTPClient")),
        library("TidelineServer", ["TidelineStore", "TidelineWire"] + http, settings: pure),
        // The deterministic simulation of devices, network, and server.
        library(
            "TidelineSimulation", core + logging, "TidelineMemory", "TidelineServer", "TidelineSupport", "TidelineWire",
            settings: pure),

        // The conformance suite with its command, that for servers with the same reports, and a layer around the file
        // calls of the program that links it, for fault injection and crash recording.
        library(
            "TidelineConformance", argumentParser + keyValue, "TidelineLive", "TidelineSupport",
            path: "Conformance/Suite"),
        library(
            "TidelineServerConformance", core, "TidelineConformance", "TidelineMemory", "TidelineWire",
            path: "Conformance/Server"),
        .target(name: "CFileCalls", path: "Conformance/CFileCalls"),
        library("TidelineFaults", ["TidelineConformance", "CFileCalls"], path: "Conformance/Faults"),

        // The benchmark: workloads, measurement, reports, and its command.
        library(
            "TidelineBenchmark", core + argumentParser + needs("hdrhistogram-swift/Histogram", of: "Commands"),
            "TidelineLive", "TidelineMemory", "TidelineServer", "TidelineSupport", "TidelineWire",
            path: "Benchmarks/Suite"),
        // The same workloads on the engines' C interfaces: the baselines that the stores are compared with.
        // No pkg-config: for simdjson, it prints a flag that the package manager rejects, and none that is needed.
        cLibrary("CSimdJSON", path: "Benchmarks/CSimdJSON", apt: "libsimdjson-dev", brew: "simdjson"),
        .target(
            name: "CBaselines", dependencies: ["CSQLite", "CLMDB", "CLevelDB", "CSimdJSON"],
            path: "Benchmarks/CBaselines", linkerSettings: [.linkedLibrary("leveldb"), .linkedLibrary("simdjson")]),
        library(
            "TidelineBaselines", ["CBaselines", "TidelineBenchmark", "TidelineStore"], path: "Benchmarks/Baselines"),
        executable(
            "InstructionProbe", core + stores, "CBaselines", "TidelineBaselines", "TidelineBenchmark", "TidelineServer",
            "TidelineSupport", path: "Benchmarks/InstructionProbe"),

        // The command-line tool.
        cLibrary("CZlib", path: "Sources/CZlib", pkgConfig: "zlib", apt: "zlib1g-dev", brew: "zlib"),
        executable(
            "TidelineTool",
            core + stores + argumentParser + logging + nio
                + needs(
                    "swift-metrics/Metrics", "swift-nio-http2/NIOHTTP2", "swift-nio-extras/NIOHTTPTypes",
                    "swift-nio-extras/NIOHTTPTypesHTTP1", "swift-nio-extras/NIOHTTPTypesHTTP2", "swift-nio-ssl/NIOSSL",
                    "swift-nio/NIOTLS", "swift-service-lifecycle/ServiceLifecycle", "Yams/Yams", of: "Serve")
                + needs(
                    "jwt-kit/JWTKit", "TidelineConformance", "TidelineFaults", "TidelineServerConformance", of: "Tool")
                + needs("TidelinePostgreSQL", of: "PostgreSQL")
                + needs("TidelineBaselines", "TidelineBenchmark", of: "Benchmark"),
            "CZlib", "TidelineAsyncHTTPClient", "TidelineServer", "TidelineSimulation", "TidelineSupport",
            "TidelineWire"),

        // Apps to look at: a to-do list in the terminal, and one as a local web page, which scripts/web starts.
        executable(
            "TodoApp", ["Tideline", "TidelineAsyncHTTPClient", "TidelineMacros", "TidelineSQLite", "TidelineSupport"],
            path: "Examples/TodoApp"),
        executable(
            "TodoWeb", argumentParser + http + logging + needs("hummingbird/Hummingbird", of: "Tool"), "Tideline",
            "TidelineAsyncHTTPClient", "TidelineSQLite", "TidelineSupport", path: "Examples/TodoWeb",
            resources: [.embedInCode("page.html")]),

        // Programs that tests start, and their helpers. SortedFileStore is the custom store example, BrokenStores a
        // simple store that keeps every promise, and variants that break one.
        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        library("TidelineTestSupport", ["TidelineStore"], path: "Tests/TidelineTestSupport"),
        library("SortedFileStore", keyValue, path: "Examples/CustomStore/Sources/SortedFileStore"),
        library(
            "TidelineTestStores", keyValue + stores, "SortedFileStore", "TidelineConformance", "TidelineFaults",
            "TidelineLive", "TidelineSupport", "TidelineTestSupport", path: "Tests/TidelineTestStores"),
        library("BrokenStores", keyValue, "TidelineConformance", path: "Tests/BrokenStores"),
        executable(
            "StoreProbe", keyValue + stores, "BrokenStores", "SortedFileStore", "TidelineConformance",
            "TidelinePostgreSQL", "TidelineTestSupport", path: "Tests/StoreProbe"),
        executable("SyncProbe", core + stores, "TidelineTestSupport", path: "Tests/SyncProbe"),
        executable(
            "CommandProbe", argumentParser + keyValue, "TidelineBenchmark", "TidelineConformance", "TidelineMemory",
            "TidelineSupport", path: "Tests/CommandProbe"),
        executable("SimulationProbe", core, "TidelineSimulation", "TidelineWire", path: "Tests/SimulationProbe"),

        // The public API as users write it: every name beside Foundation, and one app over every store.
        .testTarget(
            name: "TidelineAPITests",
            dependencies: libraries.map { .target(name: $0) } + ["CTestSupport", "TidelineTestSupport"] + http,
            packageAccess: false, swiftSettings: settings),
        tests(
            "TidelineConformanceTests", argumentParser, "BrokenStores", "CommandProbe", "StoreProbe", "TidelineFaults",
            "TidelineKeyValue", "TidelineMemory", "TidelineServer", "TidelineServerConformance", "TidelineSimulation",
            "TidelineWire"),
        tests(
            "TidelineBenchmarkTests", argumentParser, "CommandProbe", "SortedFileStore", "TidelineBaselines",
            "TidelineBenchmark", "TidelineMemory", "TidelineServer", "TidelineWire"),
        tests("TidelineStoreTests"),
        tests("TidelineMacroTests", ["TidelineMacros", "TidelineMemory"]),
        tests("TidelineLiveTests", stores, "StoreProbe", "TidelineLive"),
        tests("TidelineKeyValueTests", stores, "SortedFileStore", "TidelineKeyValue"),
        tests(
            "TidelineAdapterTests", stores, "CLMDB", "CLevelDB", "CPostgreSQL", "CSQLite", "StoreProbe",
            "TidelineKeyValue", "TidelinePostgreSQL", "TidelineTool", "TidelineWire"),
        tests("TidelineWireTests", ["TidelineWire"]),
        tests(
            "TidelineServerTests",
            ["TidelinePostgreSQL", "TidelineServer", "TidelineSimulation", "TidelineTool", "TidelineWire"]),
        tests("TidelineSimulationTests", stores, "TidelineSimulation", "TidelineWire"),
        tests(
            "TidelineTests", logging, "SyncProbe", "TidelineLive", "TidelineServer", "TidelineServerConformance",
            "TidelineSimulation", "TidelineWire"),
        tests(
            "TidelineToolTests",
            argumentParser + logging + nio
                + needs(
                    "jwt-kit/JWTKit", "swift-crypto/CryptoExtras", "swift-metrics/Metrics", "swift-nio/NIOEmbedded",
                    "swift-nio-http2/NIOHTTP2", "swift-nio-extras/NIOHTTPTypes", "swift-nio-extras/NIOHTTPTypesHTTP2",
                    "swift-nio-ssl/NIOSSL", of: "Tool"),
            "TidelineAsyncHTTPClient", "TidelineMemory", "TidelineSQLite", "TidelineServer", "TidelineSimulation",
            "TidelineTool", "TidelineURLSession", "TodoApp"),
    ],
    cxxLanguageStandard: .cxx17
)
