package import TidelineStore

extension PageParser {
    /// Reads the response to a query. See ``parsePage(_:into:)-(UnsafeRawBufferPointer,_)``.
    package func parsePage(_ bytes: [UInt8], into rows: inout PackedRows) throws(WireError) -> PageInfo {
        try bytes.withUnsafeBufferPointer { buffer throws(WireError) in
            try parsePage(UnsafeRawBufferPointer(buffer), into: &rows)
        }
    }

    /// Reads one JSON object as a row. See ``parseRow(_:requireID:)-(UnsafeRawBufferPointer,_)``.
    package func parseRow(_ bytes: [UInt8], requireID: Bool) throws(WireError) -> Row {
        try bytes.withUnsafeBufferPointer { buffer throws(WireError) in
            try parseRow(UnsafeRawBufferPointer(buffer), requireID: requireID)
        }
    }
}

extension JSONRow {
    /// Reads one JSON object as a row. See ``parse(_:allowsIntegerID:keepsNotation:)``.
    package static func parse(_ bytes: [UInt8], allowsIntegerID: Bool = false) throws(WireError) -> Row {
        try bytes.withUnsafeBufferPointer { buffer throws(WireError) in
            try parse(UnsafeRawBufferPointer(buffer), allowsIntegerID: allowsIntegerID)
        }
    }
}
