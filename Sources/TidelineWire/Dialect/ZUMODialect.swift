package import HTTPTypes
package import TidelineStore

/// The dialect of the Node and .NET Framework back ends of Azure Mobile Apps: ZUMO 2.
package struct ZUMODialect: Dialect {
    /// Creates the dialect.
    package init() {}

    package var apiVersion: String { "2.0.0" }
    package var syntax: OData.Syntax { .early }
    package var edmTypes: [String: [String: EdmType]] { [:] }
    package var countOption: (name: String, value: String) { ("$inlinecount", "allpages") }
    package var includeDeletedParameter: String { "__includeDeleted" }
    package var maximumPageSize: Int { 1000 }
    package var replacesWholeRows: Bool { false }
    package var answersInsertsWithServerRow: Bool { false }

    package func validateNewID(_ id: String) throws(WireError) { try ItemID.validate(id) }

    package func update(
        _ row: Row, in table: String, replacing current: String?, version: String?, parameters: [(String, String)],
        features: RequestFeatures
    ) throws(WireError) -> WireRequest {
        let target = try Target(table: table, id: row.idText)
        let change = try change(in: row, of: table)
        return try request(
            .patch, target, version: version, parameters: parameters, features: features,
            body: try body(of: change, in: table))
    }

    package func undelete(
        _ id: String, in table: String, replacing current: String?, version: String?, parameters: [(String, String)],
        features: RequestFeatures
    ) throws(WireError) -> WireRequest {
        try request(
            .post, try Target(table: table, id: id), version: version, parameters: parameters, features: features)
    }

    package func nextPage(
        after response: HTTPResponse, link: String?, target: String, base: BaseURL
    ) throws(WireError) -> String? {
        guard let header = response.headerFields[.link], let link = LinkHeader.next(in: header) else { return nil }
        return try LinkTarget.target(of: link, after: target, base: base)
    }
}
