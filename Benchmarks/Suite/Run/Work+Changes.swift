extension Work {
    /// Whether the rows may be others afterwards.
    var changesRows: Bool {
        switch self {
        case .reopen, .get, .scan, .find, .count, .parse: false
        case .upsert, .upsertRows, .delete, .deleteMatching, .mix, .pull, .sync: true
        }
    }
}
