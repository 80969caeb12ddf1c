internal import TidelineStore

/// How a row looks after the server's answer to an operation, when the app has edited it in the meantime.
enum RowMerge {
    /// The server's row with what was edited since the request left laid over it.
    ///
    /// - Parameters:
    ///   - local: The row as it is now.
    ///   - sent: The row as it was when the request was made.
    ///   - server: The row in the answer.
    ///   - columns: The app's columns, which alone can be edited.
    static func merge(local: Row, sent: Row, server: Row, columns: [String]) -> Row {
        var merged = server
        for column in columns {
            let now = local[column] ?? .null
            if now != sent[column] ?? .null { merged[column] = now }
        }
        return merged
    }
}
