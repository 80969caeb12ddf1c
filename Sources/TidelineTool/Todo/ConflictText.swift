#if Serve
internal import Tideline
internal import TidelineStore

/// Describes a failed operation for the terminal: both versions, and how to resolve it.
enum ConflictText {
    /// The commands that resolve the failure are complete: to be entered in the shell if this is one, or in the
    /// terminal, and with the whole id, because its beginning may select another item later.
    ///
    /// - Parameter store: The store of `--store`, which the commands then name.
    static func describe(_ error: TableOperationError, store: StoreLocation?) -> String {
        let id = printable(error.itemID)
        let words = TodoOptions.command("resolve", store: store)
        func resolve(_ option: String) -> String {
            // After --, an id may begin with a hyphen.
            "        " + (words + [option, "--", id]).map(shellWord).joined(separator: " ")
        }
        let status = error.status.map { " (HTTP \($0))" } ?? ""
        var lines = ["\(id) \(error.kind): \(error.message)\(status)"]
        if error.code == .conflict {
            lines.append("    here:       \(here(error))")
            lines.append("    the server: \(server(error))")
            lines.append("    to use the server's version:\n\(resolve("--server"))")
            lines.append("    to keep yours:\n\(resolve("--mine"))")
        } else {
            if let item = error.item { lines.append("    here: \(TodoItem.line(item))") }
            let effect = removesItem(error) ? " (removes the item)" : ""
            lines.append("    the next sync tries again; to discard the change\(effect):\n\(resolve("--server"))")
        }
        return lines.joined(separator: "\n")
    }

    /// Whether discarding the change removes the item, because the server refused to insert it and does not have it.
    static func removesItem(_ error: TableOperationError) -> Bool { error.kind == .insert && error.serverItem == nil }

    private static func here(_ error: TableOperationError) -> String {
        if error.kind == .delete { return "deleted" }
        return error.item.map(TodoItem.line) ?? "gone"
    }

    private static func server(_ error: TableOperationError) -> String {
        if error.isRowGone { return "deleted" }
        guard let item = error.serverItem else { return "unknown" }
        let changed = item["updatedAt"]?.timestamp.map { ", changed \(localTime($0))" } ?? ""
        return "\(TodoItem.line(item))\(changed)"
    }
}
#endif
