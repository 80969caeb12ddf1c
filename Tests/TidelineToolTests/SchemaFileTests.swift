#if Tool
import ArgumentParser
import Foundation
import Testing
import TidelineServer
import TidelineStore
import TidelineTestSupport

@testable import TidelineTool

@Suite("Schema files")
struct SchemaFileTests {
    private let expected = [
        TableSchema(
            "TodoItem",
            columns: [.string("text"), .bool("complete"), .string("listId", optional: false), .json("tags")],
            systemColumns: .all, indexes: [["complete", "text"], ["listId"]],
            references: [ForeignKey(column: "listId", table: "TodoList")]),
        TableSchema("TodoList", columns: [.string("name")], systemColumns: .all),
    ]

    @Test("YAML defines the tables in its order, with their columns, indexes and references")
    func yaml() throws {
        let file = try SchemaFile.parse(
            """
            # The tables of a to-do list.
            tables:
              TodoItem:
                columns:
                  text: string
                  complete: bool
                  listId: { type: string, required: true }
                  tags: { type: json }
                indexes:
                  - [complete, text]
                  - [listId]
                references:
                  listId: TodoList
              TodoList:
                columns: { name: string }
            """, file: "todo.yaml")
        #expect(file.tables == expected && file.rights.isEmpty)
    }

    @Test("JSON is equivalent")
    func json() throws {
        let file = try SchemaFile.parse(
            """
            {"tables": {
                "TodoItem": {
                    "columns": {"text": "string", "complete": "bool", "listId": {"type": "string", "required": true},
                                "tags": {"type": "json", "required": false}},
                    "indexes": [["complete", "text"], ["listId"]], "references": {"listId": "TodoList"}},
                "TodoList": {"columns": {"name": "string"}}}}
            """, file: "todo.json")
        #expect(file.tables == expected && file.rights.isEmpty)
    }

    @Test("A table has an owner column, and rights for all or for each kind of request")
    func rights() throws {
        let file = try SchemaFile.parse(
            """
            tables:
              Open: { columns: { a: string } }
              Own:
                columns: { a: string, userId: { type: string, required: true } }
                owner: userId
              ReadOnly:
                columns: { a: string }
                rights: { read: anyone, insert: nobody, update: nobody, delete: nobody }
              Kept: { columns: { userId: string }, owner: userId, rights: { delete: nobody } }
              All: { columns: { a: string }, rights: anyone }
            """, file: "f")
        #expect(
            file.rights == [
                "Own": .owned(by: "userId"),
                "ReadOnly": TableRights(read: .anyone, insert: .nobody, update: .nobody, delete: .nobody),
                "Kept": TableRights(owner: "userId", delete: .nobody), "All": .open,
            ])
        #expect(file.firstRights?.hasPrefix("f:5: table \"Own\"") == true)
    }

    @Test("The example of the help, in 80 columns, and of docs/command.md is a schema, also with its owner and rights")
    func example() throws {
        let article = try packageFile("docs/command.md")
        let text = article.components(separatedBy: "```yaml\n")[1].components(separatedBy: "```")[0]
        let help = TidelineCommand.helpMessage(for: ServeCommand.self, columns: 80)
        let start = try #require(help.range(of: "  tables:\n"))
        let shown = String(help[start.lowerBound...]).components(separatedBy: "\n\n")[0]
        #expect(shown.split(separator: "\n").map { $0.dropFirst(2) } == text.split(separator: "\n"))

        let open = try SchemaFile.parse(text, file: "f")
        #expect(open.tables.map(\.name) == ["TodoItem", "TodoList"] && open.firstRights == nil)
        let signedIn = text.replacingOccurrences(of: "# owner", with: "owner")
            .replacingOccurrences(of: "# rights", with: "rights")
        let owned = try SchemaFile.parse(signedIn, file: "f")
        #expect(owned.rights == ["TodoItem": TableRights(owner: "userId", delete: .nobody)])
    }

    @Test("Every column type is accepted", arguments: ColumnType.allCases)
    func types(type: ColumnType) throws {
        let file = try SchemaFile.parse("tables: {T: {columns: {c: \(type.rawValue)}}}", file: "f")
        #expect(file.tables.first?.columns == [ColumnSchema("c", type)])
    }

    /// Returns a schema of a table with a column, and further keys.
    private static func table(_ keys: String) -> String { "tables:\n  A:\n    columns: {a: string}\n    \(keys)\n" }

    @Test(
        "An error names file, line, table and column",
        arguments: [
            ("", "f: a schema must be a mapping"), ("[]", "f:1: a schema must be a mapping"),
            ("42", "f:1: a schema must be a mapping"),
            ("tables: {}", "at least one"), ("tables: 3", "at least one"), ("table: {}", "Did you mean \"tables\"?"),
            ("tables:\n  A: 3\n", "f:2: table \"A\" must be a mapping"),
            ("tables:\n  A: {}\n", "table \"A\" needs \"columns\""),
            (
                "tables:\n  A:\n    columns:\n      a: strng\n",
                "f:4: table \"A\", column \"a\": there is no type \"strng\""
            ),
            ("tables:\n  A:\n    columns:\n      a: [string]\n", "f:4: table \"A\", column \"a\" must be a type"),
            ("tables:\n  A:\n    columns:\n      a: {required: true}\n", "column \"a\" has no \"type\""),
            ("tables:\n  A:\n    columns:\n      a: {type: [x]}\n", "column \"a\", its type must be a string"),
            ("tables:\n  A:\n    columns:\n      a: {type: int, required: maybe}\n", "must be true or false"),
            ("tables:\n  A:\n    columns:\n      a: {type: int, requird: true}\n", "Did you mean \"required\"?"),
            ("tables:\n  A:\n    colums:\n      a: string\n", "f:3: table \"A\" has no key \"colums\""),
            ("tables:\n  A:\n    columns: {__a: string}\n", "f:3: table \"A\", column \"__a\""),
            ("tables:\n  __A:\n    columns: {a: string}\n", "table \"__A\""),
            ("tables:\n  A:\n    columns: {id: string}\n", "table \"A\", column \"id\""),
            ("tables:\n  A:\n    columns: {Version: string}\n", "table \"A\", column \"Version\""),
            (table("indexes: [[b]]"), "table \"A\", column \"b\": an index"),
            (table("indexes: [a]"), "table \"A\": an index must be a list"),
            (table("indexes: {a: 1}"), "\"indexes\" must be a list"),
            (table("references: {a: Liste}"), "there is no table \"Liste\""),
            (table("references: [a]"), "\"references\" must map a column"),
            ("tables:\n  A: {columns: {a: int}}\n  a: {columns: {a: int}}\n", "table \"a\" is defined more than once"),
            ("tables:\n  A:\n    columns: {a: int}\n    owner: a\n", "f:4: table \"A\", key \"owner\": \"a\""),
            (table("owner: b"), "f:4: table \"A\", key \"owner\": \"b\""), (table("owner: version"), "of type string"),
            (table("owner: [a]"), "key \"owner\" must be a string"),
            (table("rights: signedin"), "f:4: table \"A\", key \"rights\": there is no holder \"signedin\"."),
            (table("rights: signedin"), "\"signedin\". Did you mean \"signed-in\"?"),
            (table("rights: {reed: anyone}"), "Did you mean \"read\"?"),
            (table("rights: {read: none}"), "\"read\": there is no holder"),
            (table("rights: {read: [a]}"), "\"read\" must be a string"),
            (table("rights: {read: nobody}"), "f:4: table \"A\", key \"rights\""),
            (table("owner: a\n    rights: anyone"), "f:5: table \"A\", key \"rights\": a table with an owner"),
            ("tables:\n  A: {columns: {a: int, a: int}}\n", "'a'"), ("tables: [1,\n", "f: "), ("a: &a [*a]", "alias"),
            ("{\"tables\": ", "f: "), ("tables:\n\t- a", "f: "),
        ])
    func refuses(text: String, part: String) throws {
        let error = try #require(#expect(throws: ToolError.self) { try SchemaFile.parse(text, file: "f") })
        #expect(error.message.contains(part), "\(error.message)")
    }

    @Test("A file that is missing, a folder, too large, or not text is an error that says so")
    func unreadable() throws {
        let folder = try TemporaryFolder()
        let contents = ["/binary": Data([0xFF, 0xFE, 0]), "/large": Data(count: InputFile.maximumTextSize + 1)]
        for (name, content) in contents { try content.write(to: URL(filePath: folder.path + name)) }
        for (name, part) in [
            ("/none", "cannot be opened"), ("", "cannot be"), ("/binary", "not UTF-8 text"), ("/large", "is larger"),
        ] {
            let path = folder.path + name
            let error = try #require(#expect(throws: ToolError.self) { try SchemaFile.read(path) })
            #expect(error.message.contains(part) && error.message.contains(path), "\(error.message)")
        }
    }
}
#endif
