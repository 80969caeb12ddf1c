// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that Tideline does not depend on GRDB.
let tideline = "tideline"
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let benchmark = Target.Dependency.product(name: "TidelineBenchmark", package: tideline)

let package = Package(
    name: "grdb-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: tideline, path: "../..", traits: ["Commands"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .target(
            name: "GRDBSubjects",
            dependencies: [grdb, benchmark, .product(name: "TidelineStore", package: tideline)]),
        .executableTarget(
            name: "bench",
            dependencies: [
                "GRDBSubjects", benchmark,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "TidelineBaselines", package: tideline),
                .product(name: "TidelineSQLite", package: tideline),
                .product(name: "TidelineStore", package: tideline),
            ]),
        .testTarget(
            name: "GRDBSubjectsTests",
            dependencies: [
                "GRDBSubjects", grdb, benchmark,
                .product(name: "Tideline", package: tideline),
                .product(name: "TidelineSQLite", package: tideline),
                .product(name: "TidelineStore", package: tideline),
            ]),
    ]
)
