package import HTTPTypes
internal import TidelineStore

/// The names of the dialects, as in commands.
package enum DialectName: String, Sendable, Hashable, CaseIterable {
    /// ZUMO 2: the Node and .NET Framework back ends of Azure Mobile Apps.
    case zumo2
    /// Datasync 3: the .NET Datasync Community Toolkit server.
    case datasync3

    /// The client side of the dialect.
    package var dialect: any Dialect {
        switch self {
        case .zumo2: ZUMODialect()
        case .datasync3: DatasyncDialect()
        }
    }

    /// Returns the dialect of a request: that of its version, or else Datasync 3 for a PUT and a request with `$count`.
    ///
    /// - Parameter assumed: The dialect of all other requests without a version.
    package init(of method: HTTPRequest.Method, target: String, headers: HTTPFields, assumed: DialectName) {
        let values = PercentEncoding.parameters(of: target[...]).map { parameter in
            let name = PercentEncoding.decode(parameter.name, plusIsSpace: true)?.asciiLowercased
            return (name: name, value: String(parameter.value))
        }
        let version = headers[.zumoAPIVersion] ?? values.first { $0.name == "zumo-api-version" }?.value
        switch version?.prefix(2) {
        case "2.": self = .zumo2
        case "3.": self = .datasync3
        default:
            let isDatasync = method == .put || values.contains { $0.name == "$count" }
            self = isDatasync ? .datasync3 : assumed
        }
    }
}
