package import HTTPTypes
package import TidelineStore

/// The dialect of the .NET Datasync Community Toolkit server: Datasync 3, with OData version 4.
///
/// An update replaces the whole row, so it needs the server's row to send back what does not change.
package struct DatasyncDialect: Dialect {
    package let edmTypes: [String: [String: EdmType]]

    /// Creates the dialect.
    ///
    /// - Parameter edmTypes: See ``Dialect/edmTypes``.
    package init(edmTypes: [String: [String: EdmType]] = [:]) { self.edmTypes = edmTypes }

    package var apiVersion: String { "3.0.0" }
    package var syntax: OData.Syntax { .version4 }
    package var countOption: (name: String, value: String) { ("$count", "true") }
    package var includeDeletedParameter: String { "__includedeleted" }
    package var maximumPageSize: Int { 128_000 }
    package var replacesWholeRows: Bool { true }
    package var answersInsertsWithServerRow: Bool { true }

    /// Checks the id of a new row: 1 to 127 characters, which are ASCII letters, digits, `_`, `.`, `|`, `:` or `-`. The
    /// first is a letter or a digit.
    package func validateNewID(_ id: String) throws(WireError) {
        let bytes = Array(id.utf8)
        func isAlphanumeric(_ byte: UInt8) -> Bool { byte.isDigit || (byte | 0x20) &- 0x61 < 26 }
        let isValid =
            (1...127).contains(bytes.count) && isAlphanumeric(bytes[0])
            && bytes.allSatisfy { isAlphanumeric($0) || "_.|:-".utf8.contains($0) }
        guard !isValid else { return }
        throw WireError(
            .invalidID,
            "an id must have 1 to 127 ASCII letters, digits, and characters of _ . | : -, and begin with a letter or "
                + "digit", id: String(id.prefix(300)))
    }

    package func update(
        _ row: Row, in table: String, replacing current: String?, version: String?, parameters: [(String, String)],
        features: RequestFeatures
    ) throws(WireError) -> WireRequest {
        let change = try change(in: row, of: table)
        return try put(
            change, id: row.idText, in: table, current, version, isUndelete: false, parameters, features)
    }

    package func undelete(
        _ id: String, in table: String, replacing current: String?, version: String?, parameters: [(String, String)],
        features: RequestFeatures
    ) throws(WireError) -> WireRequest {
        try put(Row(), id: id, in: table, current, version, isUndelete: true, parameters, features)
    }

    private func put(
        _ change: Row, id: String, in table: String, _ current: String?, _ version: String?, isUndelete: Bool,
        _ parameters: [(String, String)], _ features: RequestFeatures
    ) throws(WireError) -> WireRequest {
        var target = try Target(table: table, id: id)
        if isUndelete { target.append(includeDeletedParameter, "true") }
        guard let current else {
            throw WireError(.invalidRequest, "the server's row to replace is not known", table: table, id: id)
        }
        try requireSayable(change, in: table)
        return try request(
            .put, target, version: version, parameters: parameters, features: features,
            body: try WholeRow.body(id: id, merging: change, into: current, isUndelete: isUndelete))
    }

    package func nextPage(
        after response: HTTPResponse, link: String?, target: String, base: BaseURL
    ) throws(WireError) -> String? {
        guard let link else { return nil }
        if Self.isURL(link) { return try LinkTarget.target(of: link, after: target, base: base) }
        // Only the query string, to be put after the table's URL.
        let query = link.prefix { $0 != "#" }.drop { $0 == "?" }
        return "\(target.prefix { $0 != "?" })?\(PercentEncoding.repair(query.utf8))"
    }

    /// Returns whether a link begins with a slash or a scheme. A filter in a query string may contain a URL.
    private static func isURL(_ link: String) -> Bool {
        if link.hasPrefix("/") { return true }
        guard let colon = link.firstIndex(of: ":"), link[colon...].hasPrefix("://") else { return false }
        return link[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }
}

/// The body of a request that replaces a whole row.
///
/// The server's row is JSON, as it was received or stored. Its member `__extra` contains the columns that the local
/// table does not define, and the texts of those whose values are written differently, such as `0.10` or a date with an
/// offset. They are copied without being converted. A null that the row does not have in `__extra` is omitted, because
/// the server may not have the column.
package enum WholeRow {
    /// Returns the server's row with the columns of a change, including null. System columns are omitted.
    ///
    /// - Throws: ``WireError/Code/malformedJSON`` or ``WireError/Code/wrongShape`` if `current` is not a JSON object.
    static func body(
        id: String, merging change: Row, into current: String, isUndelete: Bool
    ) throws(WireError) -> [UInt8] {
        var builder = Builder(id: id, change: change, isUndelete: isUndelete)
        var current = current
        let fault: JSONFault? = current.withUTF8 { bytes in
            do throws(JSONFault) {
                let scanner = JSONScanner(UnsafeRawBufferPointer(bytes))
                // The texts in the further members take precedence over the values.
                var extra = scanner
                if try extra.find("__extra", before: UInt8(ascii: "{")) {
                    try builder.copyMembers(extra, isExtra: true)
                }
                try builder.copyMembers(scanner, isExtra: false)
                return nil
            } catch {
                return error
            }
        }
        if let fault {
            throw WireError(fault.kind.code, fault.kind.message(expecting: .json), offset: fault.offset, id: id)
        }
        return builder.finish()
    }

    private struct Builder {
        private var writer = JSONWriter()
        private let change: Row
        /// The names that must not be copied, because they will be written or belong to the server, by their bytes: a
        /// server may have columns that differ only in these.
        private let names: Set<[UInt8]>
        /// The names that were copied, by their bytes.
        private var copied: Set<[UInt8]> = []

        init(id: String, change: Row, isUndelete: Bool) {
            self.change = change
            let names: [String] = ["id"] + SystemColumns.names + change.columnNames
            self.names = Set(names.map { Array($0.utf8) })
            writer.bytes += Array("{\"id\":".utf8)
            writer.append(string: id)
            if isUndelete { writer.bytes += Array(",\"deleted\":false".utf8) }
        }

        /// Copies the members of the object here that were not copied before.
        mutating func copyMembers(_ scanner: JSONScanner, isExtra: Bool) throws(JSONFault) {
            var scanner = scanner
            guard try scanner.token() == UInt8(ascii: "{") else { throw scanner.fault(.notARow) }
            try scanner.open()
            guard try scanner.hasFirst(before: UInt8(ascii: "}")) else { return }
            repeat {
                _ = try scanner.token()
                let start = scanner.position
                let name = Array(scanner.text(try scanner.name()).utf8)
                let isNull = try scanner.token() == UInt8(ascii: "n")
                try scanner.skipValue()
                guard isExtra || !isNull, !names.contains(name), copied.insert(name).inserted else { continue }
                writer.separator()
                writer.bytes += scanner.slice(start, scanner.position)
            } while try scanner.hasNext(before: UInt8(ascii: "}"))
        }

        mutating func finish() -> [UInt8] {
            for (name, value) in change.values where ODataColumns.travels(name) {
                writer.separator()
                writer.append(string: name)
                writer.bytes.append(UInt8(ascii: ":"))
                writer.append(value)
            }
            writer.bytes.append(UInt8(ascii: "}"))
            return writer.bytes
        }
    }
}
