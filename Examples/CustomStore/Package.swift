// swift-tools-version: 6.2
import PackageDescription

// In a package of your own, only the dependency differs: it has a URL in place of the path.
let tideline = "tideline"

let package = Package(
    name: "custom-store",
    platforms: [.macOS(.v15)],
    products: [.library(name: "SortedFileStore", targets: ["SortedFileStore"])],
    dependencies: [.package(name: tideline, path: "../..", traits: ["Commands"])],
    targets: [
        .target(
            name: "SortedFileStore",
            dependencies: [
                .product(name: "TidelineStore", package: tideline),
                .product(name: "TidelineKeyValue", package: tideline),
            ]),
        // The suite as a command. Its checks also use it as the second process.
        .executableTarget(
            name: "conformance",
            dependencies: [
                "SortedFileStore",
                .product(name: "TidelineConformance", package: tideline),
                .product(name: "TidelineFaults", package: tideline),
            ]),
        .testTarget(
            name: "SortedFileStoreTests",
            dependencies: [
                "SortedFileStore", "conformance",
                .product(name: "TidelineConformance", package: tideline),
                .product(name: "TidelineFaults", package: tideline),
            ]),
    ]
)
