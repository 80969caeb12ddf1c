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
    static func client(_ name: String) throws -> ServerDialect {
        if let dialect = ServerDialect.all.first(where: { $0.description == name }) { return dialect }
        throw unknown(name)
    }

    /// - Throws: `ValidationError` if the name is unknown.
    static func server(_ name: String) throws -> TableServiceOptions.Dialect {
        if let dialect = TableServiceOptions.Dialect.all.first(where: { $0.description == name }) { return dialect }
        throw unknown(name)
    }

    private static func unknown(_ name: String) -> ValidationError {
        ValidationError("there is no dialect \(name.debugDescription); use one of \(names).")
    }
}
#endif
