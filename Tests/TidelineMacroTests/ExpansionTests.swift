#if Macros
import Testing

@Suite("Expansion of @Table")
struct ExpansionTests {
    private func expansion(of source: String) throws -> String { text(try Expansion(source)) }

    private func text(_ expansion: Expansion) -> String {
        #expect(expansion.errors.isEmpty)
        return expansion.text
    }

    private static let todo = """
        @Table("TodoItem")
        struct Todo: Identifiable, Sendable {
            var id: ID<Todo> = .new
            var text: String
            var due: Date?
            @Index("due") var complete = false
            @Merge(.greatest) var priority = 0
            @References(TodoList.self) var list: TodoList.ID?
        }
        """

    private static let todoExpansion = """
        struct Todo: Identifiable, Sendable {
            var id: ID<Todo> = .new
            var text: String
            var due: Date?
            var complete = false
            var priority = 0
            var list: TodoList.ID?

            struct Columns: Sendable {
                let text = TidelineStore.Column<String>("text")
                let due = TidelineStore.Column<Date?>("due")
                let complete = TidelineStore.Column<Bool>("complete")
                let priority = TidelineStore.Column<Int>("priority")
                let list = TidelineStore.Column<TodoList.ID?>("list")
            }

            static let columns = Columns()

            static let tableName = "TodoItem"

            static let schema = TidelineStore.TableSchema(
                tableName,
                columns: [
                    .column(columns.text),
                    .column(columns.due),
                    .column(columns.complete, optional: true),
                    .column(columns.priority, optional: true),
                    .column(columns.list),
                ],
                indexes: [["complete", "due"]],
                references: [TidelineStore.ForeignKey(columns.list)])

            static let mergeRules: [Swift.String: Tideline.MergeRule] = ["priority": .greatest]
        }

        extension Todo: TidelineStore.TableRecord, Tideline.MergingRecord {
            init(from row: inout TidelineStore.RecordReader) throws {
                try self.init(
                    id: row.id(),
                    text: row.read(Self.columns.text),
                    due: row.read(Self.columns.due),
                    complete: row.read(Self.columns.complete, default: false),
                    priority: row.read(Self.columns.priority, default: 0),
                    list: row.read(Self.columns.list))
            }
            func write(to row: inout TidelineStore.RecordWriter) throws {
                try row.write(self.text, to: Self.columns.text)
                try row.write(self.due, to: Self.columns.due)
                try row.write(self.complete, to: Self.columns.complete)
                try row.write(self.priority, to: Self.columns.priority)
                try row.write(self.list, to: Self.columns.list)
            }
        }
        """

    @Test("The macro writes the conformance that an app would write by hand")
    func record() throws { #expect(try expansion(of: Self.todo) == Self.todoExpansion) }

    @Test("A record in a public extension is public")
    func publicExtension() throws {
        let found = try expansion(
            of: """
                public extension Model {
                    @Table("Note")
                    struct Note: Identifiable, Sendable {
                        public var id: Self.ID
                        public var title: String
                    }
                }
                """)
        for line in ["public struct Columns", "public static let tableName", "public func write", "public init"] {
            #expect(found.contains(line), "\(found)")
        }
    }

    private static let note = """
        @Table("Note", idMatching: .exact)
        @available(macOS 99, *)
        public struct Note: Identifiable, Sendable {
            public var id: Self.ID
            public private(set) var title: String
            var size: Int
            private var secret = ""
        }
        """

    private static let noteExpansion = """
        @available(macOS 99, *)
        public struct Note: Identifiable, Sendable {
            public var id: Self.ID
            public private(set) var title: String
            var size: Int
            private var secret = ""

            public struct Columns: Sendable {
                public let title = TidelineStore.Column<String>("title")
                let size = TidelineStore.Column<Int>("size")
                fileprivate let secret = TidelineStore.Column<String>("secret")
            }

            public static let columns = Columns()

            public static let tableName = "Note"

            public static let schema = TidelineStore.TableSchema(
                tableName,
                columns: [
                    .column(columns.title),
                    .column(columns.size),
                    .column(columns.secret, optional: true),
                ],
                idMatching: .exact)
        }

        @available(macOS 99, *)
        extension Note: TidelineStore.TableRecord {
            public init(from row: inout TidelineStore.RecordReader) throws {
                try self.init(
                    id: row.id(),
                    title: row.read(Self.columns.title),
                    size: row.read(Self.columns.size),
                    secret: row.read(Self.columns.secret, default: ""))
            }
            public func write(to row: inout TidelineStore.RecordWriter) throws {
                try row.write(self.title, to: Self.columns.title)
                try row.write(self.size, to: Self.columns.size)
                try row.write(self.secret, to: Self.columns.secret)
            }
        }
        """

    @Test("A public record has public members, a column has the access of its property")
    func access() throws { #expect(try expansion(of: Self.note) == Self.noteExpansion) }

    @Test("An error about a type that the macro does not know falls on the line of the property")
    func locations() throws {
        let found = text(try Expansion(ofNote: "var place: Place?"))
        let expected = """
                struct Columns: Sendable {
                    #sourceLocation(file: "App.swift", line: 4)
                    let place = TidelineStore.Column<Place?>("place")
                    #sourceLocation()
                }
            """
        #expect(found.contains(expected), "\(found)")
    }

    @Test(
        "The type of a column names the same type inside of the record",
        arguments: [
            ("ID<Note>?", "TidelineStore.ID<Note>?"), ("Self.ID?", "Note.ID?"), ("Date!", "Date?"),
            ("[ID<Other>]", "[TidelineStore.ID<Other>]"), ("Optional<ID<Note>>", "Optional<TidelineStore.ID<Note>>"),
        ])
    func types(_ type: String, _ expected: String) throws {
        let found = text(try Expansion(ofNote: "var other: \(type)"))
        #expect(found.contains("let other = TidelineStore.Column<\(expected)>(\"other\")"), "\(found)")
    }

    @Test("Computed and static properties are not columns, and those with observers are; names need not be plain")
    func properties() throws {
        let expansion = try Expansion(
            """
            @Table("Note")
            struct Note: Identifiable, Sendable {
                let id: ID<Note>
                static var count = 0
                var isNew: Bool { true }
                var size: Int { get { 0 } set {} }
                var a, b: Int
                var low = -1, high = 1.5
                var text = "" { didSet {} }
                @Column("\\"x") var `default`: String? = "none"
            }
            """)
        #expect(expansion.errors.isEmpty)
        let columns = expansion.lines.filter { $0.hasPrefix("let ") && $0.contains("Column<") }
        #expect(
            columns == [
                #"let a = TidelineStore.Column<Int>("a")"#, #"let b = TidelineStore.Column<Int>("b")"#,
                #"let low = TidelineStore.Column<Int>("low")"#, #"let high = TidelineStore.Column<Double>("high")"#,
                #"let text = TidelineStore.Column<String>("text")"#,
                ##"let `default` = TidelineStore.Column<String?>(#""x"#)"##,
            ])
        #expect(expansion.lines.contains("low: row.read(Self.columns.low, default: -1),"))
        #expect(expansion.lines.contains("default: row.read(Self.columns.`default`))"))
    }

    @Test("A conformance that the app declares is not repeated")
    func declared() throws {
        let source = """
            @Table("Note")
            struct Note: TableRecord {
                var id: ID<Note>
            }
            """
        #expect(try Expansion(source, missing: []).text.contains("extension Note {"))
        #expect(try Expansion(source, missing: ["MergingRecord"]).text.contains("extension Note {"))
    }

    @Test("A default value of a nested record is written where its names are those of the record's declaration")
    func nested() throws {
        let expansion = try Expansion(
            """
            enum Model {
                @Table("Note")
                struct Note: Identifiable, Sendable {
                    var id: ID<Note>
                    var kind: Kind = Kind.task
                    var other: Kind = .task
                    var title: String = Self.untitled
                    @Column("color", unknown: Color.none) var tint = 1
                    @Column(unknown: .none) var back: Color?
                }
            }
            """)
        #expect(expansion.errors.isEmpty)
        let defaults = expansion.lines.drop { !$0.hasPrefix("fileprivate") }.prefix(9)
        #expect(
            defaults == [
                "fileprivate static var kind: Kind {", "Kind.task", "}",
                "fileprivate static var title: String {", "Note.untitled", "}",
                "fileprivate static var unknown_tint: Int {", "Color.none", "}",
            ])
        for line in [
            "kind: row.read(Self.columns.kind, default: Columns.kind),",
            "other: row.read(Self.columns.other, default: .task),",
            "title: row.read(Self.columns.title, default: Columns.title),",
            "tint: row.read(Self.columns.tint, default: 1, unknown: Columns.unknown_tint),",
            "back: row.read(Self.columns.back, unknown: .none))",
        ] { #expect(expansion.lines.contains(Substring(line)), "\(line)") }
    }

    @Test("The identifier is an argument where it is declared")
    func identifierLast() throws {
        let found = try expansion(
            of: """
                @Table("Note")
                struct Note: Identifiable, Sendable {
                    var text: String
                    var id: ID<Note>
                }
                """)
        #expect(found.contains("text: row.read(Self.columns.text),\n            id: row.id())"), "\(found)")
    }

    @Test(
        "Without the memberwise initializer of the compiler, the properties are set one by one",
        arguments: [
            ("", "var text: String; init() { fatalError() }"), ("", "@Trimmed var text: String"),
            ("", "var text: String; #members"), ("@Other", "var text: String"),
            ("", "var text: String\n#if DEBUG\ninit() { fatalError() }\n#endif"),
        ])
    func ownInitializer(_ attribute: String, _ members: String) throws {
        let found = text(try Expansion(ofNote: members, attribute: "\(attribute) "))
        #expect(found.contains("self.text = try row.read(Self.columns.text)"), "\(found)")
        #expect(!found.contains("self.init("))
    }
}
#endif
