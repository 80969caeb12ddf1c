@_exported public import Tideline

#if Macros
/// Makes a struct the record of a table: adds the conformance to `TableRecord`, and to `MergingRecord` if a property
/// has ``Merge(_:)``.
///
/// ```swift
/// @Table("TodoItem")
/// struct Todo: Identifiable, Sendable {
///     var id: ID<Todo> = .new
///     var text: String
///     var due: Date?
///     var complete = false
///     @Merge(.greatest) var priority = 0
///     @References(TodoList.self) var list: TodoList.ID?
/// }
/// ```
///
/// Each stored property except `id` is a column. Its type conforms to `ColumnValue`; it may be omitted if the default
/// value is a Boolean, a number, or text. The column of an optional property, and of a property with a default value,
/// is optional. A row without a value then reads as `nil` or the default value; an optional property is `nil` whatever
/// its default value. Computed and static properties are not columns.
///
/// - Parameters:
///   - name: The name of the table, locally and on the server, as a string literal.
///   - idMatching: How identifiers compare.
@attached(
    member, names: named(Columns), named(columns), named(tableName), named(schema), named(mergeRules))
@attached(
    extension, conformances: TableRecord, MergingRecord, names: named(init(from:)), named(write(to:)))
public macro Table(_ name: String, idMatching: TableSchema.IDMatching = .asciiCaseInsensitive) =
    #externalMacro(module: "TidelineMacroPlugin", type: "TableMacro")

/// Names the column of a property, if it differs from the name of the property.
///
/// Use it for a column that the server names differently, and to rename a property without a new column:
///
/// ```swift
/// @Column("text") var title: String
/// ```
/// - Parameter name: The name of the column, as a string literal.
@attached(peer)
public macro Column(_ name: String) = #externalMacro(module: "TidelineMacroPlugin", type: "MarkerMacro")

/// Declares what a property is if its type cannot hold the stored value, as a case of an enumeration that only a later
/// version of the app has. Without it, such a row is not fetched.
///
/// ```swift
/// @Column(unknown: Status.other) var status: Status
/// ```
/// The stored value stays: an update that does not change the property does not write it. Queries compare the stored
/// value.
/// - Parameter unknown: The substitute: a value with its type, or `nil` for an optional property.
@attached(peer)
public macro Column(unknown: (any ColumnValue)?) = #externalMacro(module: "TidelineMacroPlugin", type: "MarkerMacro")

/// Names the column of a property, and declares what the property is if its type cannot hold the stored value.
///
/// - Parameters:
///   - name: The name of the column, as a string literal.
///   - unknown: The substitute, as in ``Column(unknown:)``.
@attached(peer)
public macro Column(_ name: String, unknown: (any ColumnValue)?) =
    #externalMacro(module: "TidelineMacroPlugin", type: "MarkerMacro")

/// Adds an index over the column of a property, and over the columns of further properties, which order the rows with
/// the same value of the first.
///
/// ```swift
/// @Index var due: Date?
/// @Index("due") var complete = false
/// ```
/// - Parameter further: The names of further properties, as string literals. `id` may be one of them.
@attached(peer)
public macro Index(_ further: String...) = #externalMacro(module: "TidelineMacroPlugin", type: "MarkerMacro")

/// Declares the rule by which conflicts over the column of a property are merged; see `MergingRecord`.
///
/// ```swift
/// @Merge(.greatest) var priority = 0
/// ```
@attached(peer)
public macro Merge(_ rule: MergeRule) = #externalMacro(module: "TidelineMacroPlugin", type: "MarkerMacro")

/// Declares that the column of a property holds identifiers of another record, or of the same.
///
/// ```swift
/// @References(TodoList.self) var list: TodoList.ID?
/// ```
///
/// A push sends the referenced rows first.
@attached(peer)
public macro References<Record: TableRecord>(_ type: Record.Type) =
    #externalMacro(module: "TidelineMacroPlugin", type: "MarkerMacro")
#endif
