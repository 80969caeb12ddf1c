#if Macros
import Testing
import TidelineStore

/// The errors of the macro, each at the line and column that causes it.
@Suite("Diagnostics of @Table")
struct DiagnosticTests {
    private static let tuple = "a column cannot hold a tuple; use a struct that conforms to JSONColumnValue"
    private static let severalTypes =
        "a column cannot hold values of several types; use one type that conforms to JSONColumnValue"
    private static let listType = "a reference to TodoList has the type TodoList.ID or TodoList.ID?"
    private static let largeInteger = "cannot be stored: a column holds integers up to Int64.max"

    private func expand(_ members: String) throws -> Expansion { try Expansion(ofNote: members) }

    @Test(
        "A property or default value that no column can hold is an error at the part that is wrong",
        arguments: [
            ("var due = makeDate()", "4:9 due needs a type, because the macro does not see the type of its value"),
            ("var pair: (Int, Int)", "4:15 \(tuple)"),
            ("var pairs: [String: (Int, Int)?]", "4:25 \(tuple)"),
            ("var action: @Sendable () -> Void", "4:27 a column cannot hold a function"),
            ("var any: any Sendable", "4:14 \(severalTypes)"),
            ("var any: Set<AnyHashable>", "4:18 \(severalTypes)"),
            ("var kind: Int.Type", "4:15 a column cannot hold a type"),
            ("var nothing: ()", "4:18 a column cannot hold no value"),
            ("var twice: Int??", "4:16 a column cannot hold an optional of an optional; it has one null"),
            (
                "let kind = 1",
                "4:5 kind is a constant with a value and cannot be read from a row; declare it with var, or as static"
            ),
            ("lazy var size = 1", "4:5 a lazy property cannot be a column; make it computed or static"),
            ("var (a, b) = (1, 2)", "4:9 each property of a record needs a declaration of its own"),
            ("@Column(name) var a: Int", "4:13 a macro needs the name as a string literal"),
            (#"@Column("\(name)") var a: Int"#, "4:13 a macro needs the name as a string literal"),
            ("@Index(\"b\") var a: Int", "4:12 no property b of the record is a column; an index names properties"),
            ("@Index(\"a\") var a: Int", "4:12 an index has each column only once"),
            (
                "@References(list) var list: TodoList.ID",
                "4:17 a macro needs the type of the referenced record, such as TodoList.self"
            ),
            ("@References(TodoList.self) var list: String", "4:42 \(listType)"),
            ("@References(TodoList.self) var list: Note.ID?", "4:42 \(listType)"),
            ("@References(TodoList.self) var list: ID<TodoList>?", "4:42 \(listType)"),
            ("@Index static var a = 1", "4:5 @Index can only be attached to a stored property"),
            ("@Column(\"b\") var a: Int { 1 }", "4:5 @Column can only be attached to a stored property"),
            ("var ratio: Double = .nan", "4:25 the default value of ratio cannot be stored: JSON has no such number"),
            (
                "var ratio: Float? = -.infinity",
                "4:25 the default value of ratio cannot be stored: JSON has no such number"
            ),
            ("var size: UInt64 = .max", "4:24 the default value of size \(largeInteger)"),
            ("var size: UInt = 0x8000_0000_0000_0000", "4:22 the default value of size \(largeInteger)"),
        ] as [(String, String)])
    func properties(_ property: String, _ error: String) throws {
        #expect(try expand(property).errors == [error])
    }

    @Test(
        "References to the record itself and to records in other types, and default values at the limits, are accepted",
        arguments: [
            "@References(Note.self) var parent: Note.ID?", "@References(Self.self) var parent: Self.ID?",
            "@References(Note.self) var parent: Self.ID?", "@References(Model.List.self) var list: Model.List.ID",
            "@References(Model.List.self) var list: List.ID?",
            "@References(List.self) var list: TidelineStore.ID<List>",
            "var a: UInt = 0x7FFF_FFFF_FFFF_FFFF, b: Int = .max, c: Double = -.pi, d: UInt8 = .max",
        ])
    func accepted(_ property: String) throws {
        #expect(try expand(property).errors == [])
    }

    @Test("Two properties in one column are an error at the second, and so are names that differ in ASCII case")
    func duplicates() throws {
        #expect(
            try expand("var text: String\n    @Column(\"text\") var title: String").errors == [
                "5:13 text and title are stored in the same column; give one of them another name with @Column(\"name\")"
            ])
        #expect(
            try expand("var text: String\n    var Text: String").errors == [
                "5:9 text and Text are stored in the same column, and the names differ only in ASCII case; give one of them "
                    + "another name with @Column(\"name\")"
            ])
        // The compiler reports the second declaration, too.
        #expect(
            try expand("@Index var text: String\n    @Index var text: String").errors.map { $0.prefix(4) } == ["5:16"])
        #expect(try expand("var ä: String\n    var Ä: String").errors == [])
    }

    @Test("A reserved name is an error at the property, or at the name that @Column gives it")
    func reserved() throws {
        for name in ["version", "updatedAt", "CREATEDAT", "deleted"] {
            let hint = name == "deleted" ? "" : ", and that a record without @Table can read"
            #expect(
                try expand("var \(name): String").errors == [
                    "4:9 the column name \"\(name)\" is reserved for a column that every table has\(hint); give the column "
                        + "another with @Column(\"name\")"
                ])
        }
        #expect(try expand("var __x: Int").errors.count == 1)
        #expect(try expand("@Column(\"ID\") var key: String").errors.map { $0.prefix(5) } == ["4:13 "])
        #expect(try expand("@Column(\"v\") var version: String").errors == [])
    }

    @Test("The names that the macro accepts are those that a store accepts")
    func names() throws {
        let names = [
            "", "a", "id", "ID", "Version", "__extra", "__a", "_a", "sqlite_a", "sqlite_\u{301}a", "__\u{301}",
            "SQLite_a", "tideline_", "a\u{7}", "ä",
            "deleted ",
            String(repeating: "a", count: 128), String(repeating: "a", count: 129), "\u{85}", "updatedat", "createdAt",
            "e\u{301}", "\u{212A}", "\u{E9}",
        ]
        for name in names {
            let column = TableSchema("T", columns: [.int(name)])
            let errors = try expand("@Column(\(name.debugDescription)) var key: Int").errors
            #expect(errors.isEmpty == column.isValid, "\(name) \(errors)")
            let table = TableSchema(name, columns: [])
            let record = "struct Note: Identifiable {\n    var id: ID<Note>\n}"
            let others = try Expansion("@Table(\(name.debugDescription))\n\(record)").errors
            #expect(others.isEmpty == table.isValid, "\(name) \(others)")
        }
    }

    @Test("A type that cannot be a record is an error")
    func types() throws {
        let note = "@Table(\"Note\")\nstruct Note"
        let cases = [
            ("@Table(\"Note\")\nclass Note {\n}", "1:1 @Table can only be attached to a struct"),
            ("\(note)<T> {\n    var id: ID<Note>\n}", "2:12 a record cannot have type parameters"),
            ("\(note) {\n    var a: Int\n}", "2:8 Note needs an identifier: var id: ID<Note> = .new"),
            ("\(note) {\n    var id: UUID\n}", "3:13 the property id has the type ID<Note>, not UUID"),
            (
                "@Table(\"sqlite_a\")\nstruct Note {\n    var id: ID<Note>\n}",
                "1:8 table names beginning with sqlite_ or tideline_ are reserved"
            ),
            ("@Table(name)\nstruct Note {\n    var id: ID<Note>\n}", "1:8 a macro needs the name as a string literal"),
            (
                "struct Note {\n    @Index var a: Int\n}",
                "2:5 @Index can only be attached to a property of a struct with @Table"
            ),
        ]
        for (source, error) in cases { #expect(try Expansion(source).errors == [error]) }
        #expect(
            try expand("#if DEBUG\n    var a: Int\n    #endif").errors == [
                "4:5 a property inside #if cannot be a column, because the definition of a table must not depend on the build"
            ])
        #expect(try expand("#if DEBUG\n    var a: Int { 1 }\n    #endif").errors == [])
    }

    @Test("An error leaves the conformance in place, so that no other errors follow")
    func conformance() throws {
        let text = try expand("var a: Int\n    var b: (Int, Int)").text
        #expect(text.contains("extension Note: TidelineStore.TableRecord"))
        #expect(text.contains("let a = ") && !text.contains("let b = "))
        #expect(try !expand("@References(List.self) var a: Int").text.contains("ForeignKey"))
    }

    @Test("Fix-its correct what they offer to correct")
    func fixes() throws {
        let expansion = try Expansion(
            """
            @Table("Note")
            struct Note: Identifiable, Sendable {
                let id: UUID
                let kind = 1
                var due = Date()  // when
                var size = make()
                @References(List.self) var list: String?
            }

            @Table("List")
            struct List: Identifiable, Sendable {
                var name: String
            }
            """)
        #expect(
            expansion.fixed == """
                @Table("Note")
                struct Note: Identifiable, Sendable {
                    let id: ID<Note>
                    var kind = 1
                    var due: Date = Date()  // when
                    var size: <#type#> = make()
                    @References(List.self) var list: List.ID?
                }

                @Table("List")
                struct List: Identifiable, Sendable {
                    var id: ID<List> = .new
                    var name: String
                }
                """)
        #expect(expansion.fixes.contains("replace let with var"))
    }
}

extension TableSchema {
    fileprivate var isValid: Bool { (try? validate()) != nil }
}
#endif
