#if Serve
internal import ArgumentParser
internal import Tideline
internal import TidelineServer
internal import TidelineSupport

/// The option `--dialect`, by the names of the dialects.
enum DialectOption {
    /// The names of all dialects, for help texts.
    static let names = ServerDialect.all.map(\.description).joined(separator: ", ")

    /// - Throws: `ValidationError` if the name is unknown.
    static func client(_ name: String) throws -> ServerDialect { try find(name, among: ServerDialect.all) }

    /// - Throws: `ValidationError` if the name is unknown.
    static func server(_ name: String) throws -> TableServiceOptions.Dialect {
        try find(name, among: TableServiceOptions.Dialect.all)
    }

    private static func find<Dialect: CustomStringConvertible>(_ name: String, among all: [Dialect]) throws -> Dialect {
        if let dialect = all.first(where: { $0.description == name }) { return dialect }
        throw ValidationError("there is no dialect \(name.debugDescription); use one of \(names).")
    }
}
#endif
