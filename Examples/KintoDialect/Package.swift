// swift-tools-version: 6.2
import PackageDescription

// In a package of your own, only the dependency differs: it has a URL in place of the path.
let tideline = "tideline"

let package = Package(
    name: "kinto-dialect",
    platforms: [.macOS(.v15)],
    products: [.library(name: "KintoSync", targets: ["KintoSync"])],
    dependencies: [.package(name: tideline, path: "../..")],
    targets: [
        .target(
            name: "KintoSync",
            dependencies: [
                .product(name: "Tideline", package: tideline),
                .product(name: "TidelineStore", package: tideline),
            ]),
        .testTarget(
            name: "KintoSyncTests",
            dependencies: [
                "KintoSync",
                .product(name: "TidelineMemory", package: tideline),
                .product(name: "TidelineURLSession", package: tideline),
            ],
            exclude: ["kinto_server.py"]),
    ]
)
