extension BrokenStore {
    /// Flaws in definitions.
    static let tables: [BrokenStore] = [
        .init(
            .redefinitionIgnored, "A redefinition applies the tables that its body returns",
            foundBy: "TAB-206", saying: "redefinition"),
        .init(
            .tablesSortedInUTF16, "Tables are listed in the order of the bytes of their names",
            foundBy: "TAB-204", saying: "order"),
        .init(.newerFormatRead, "A store of a later format is refused", foundBy: "TAB-205", saying: "newerFormat"),
        .init(.definitionNotAtomic, "Tables are defined all or none", foundBy: "TAB-125", saying: "refused"),
        .init(.redefinitionLosesRows, "Another definition keeps the rows", foundBy: "TAB-060", saying: "rows"),
        .init(
            .droppedColumnErased, "A column that is no longer named stays stored",
            foundBy: "TAB-082", saying: "values"),
        .init(.changedTypeAccepted, "A column's type cannot change", foundBy: "TAB-121", saying: "type"),
        .init(.tablesUnsorted, "Tables are listed in order of name", foundBy: "TAB-005", saying: "order"),
        .init(
            .systemTablesNotListed, "The framework's tables are listed, too", foundBy: "SYS-001", saying: "all tables"),
        .init(
            .newColumnIsZero, "A new column is null in the rows there are",
            foundBy: "TAB-061", "OBS-008", saying: "null"),
        .init(
            .undefinedTableIsEmpty, "A table that was never defined is noSuchTable",
            foundBy: "TAB-020", saying: "noSuchTable"),
        .init(.idTypeChangeAccepted, "The matching of ids cannot change", foundBy: "TAB-124", saying: "match"),
        .init(.namesNotChecked, "Invalid definitions are refused", foundBy: "TAB-045", saying: "schemaMismatch"),
        .init(
            .columnsMoveWithDefinition, "Values stay with their column when the definition's order changes",
            foundBy: "TAB-063", saying: "column"),
        .init(.columnNamesIgnoreCase, "The names of columns differ in case", foundBy: "FIL-132", saying: "column"),
        .init(
            .tableNamesComparedByBytes, "A name finds its table in any normalization form",
            foundBy: "TAB-036", saying: "noSuchTable"),
        .init(
            .nameFormsNotChecked, "Names in another normalization form than C are refused",
            foundBy: "TAB-036", saying: "schemaMismatch"),
        .init(
            .undefinedTableInDeleteIgnored, "Deleting from a table that was never defined is noSuchTable",
            foundBy: "TAB-022", saying: "noSuchTable"),
        .init(
            .indexesNotListed, "The definitions listed are those that were given",
            foundBy: "TAB-002", saying: "indexes"),
        .init(.optionalChangeIgnored, "A column can become required", foundBy: "TAB-065", saying: "required"),
        .init(
            .retiredTypeForgotten, "A column that comes back has the type it is stored with",
            foundBy: "TAB-085", saying: "type"),
        .init(
            .columnCaseChangeAccepted, "A column that differs from a stored one in case only is refused",
            foundBy: "TAB-128", saying: "case"),
    ]
}
