#if Tool
internal import Foundation
internal import Tideline

/// An item of the to-do list.
struct TodoItem: TableRecord {
    var id: ID<TodoItem> = .new
    var text: String
    var complete = false
    var created = Date.now

    struct Columns: Sendable {
        let text = Column<String>("text")
        let complete = Column<Bool>("complete")
        let created = Column<Date>("created")
    }
    static let columns = Columns()
    static let tableName = "TodoItem"
    static let schema = TableSchema(
        tableName,
        columns: [
            .column(columns.text), .column(columns.complete, optional: true), .column(columns.created, optional: true),
        ],
        indexes: [["created"]])
}

extension TodoItem {
    init(from row: inout RecordReader) throws {
        id = row.id()
        text = try row.read(Self.columns.text, default: "")
        complete = try row.read(Self.columns.complete, default: false)
        created = try row.read(Self.columns.created, default: .distantPast)
    }

    func write(to row: inout RecordWriter) throws {
        try row.write(text, to: Self.columns.text)
        try row.write(complete, to: Self.columns.complete)
        try row.write(created, to: Self.columns.created)
    }
}
#endif
