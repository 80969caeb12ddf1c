extension BrokenStore {
    /// Flaws in definitions.
    static let tables: [BrokenStore] = [
        .init(
            .redefinitionIgnored, "A redefinition applies the tables that its body returns", "TAB-206",
            saying: "redefinition"),
        .init(
            .redefinitionInTwoWrites, "Nothing is committed between the body of a redefinition and its end", "TAB-207",
            saying: "redefinition"),
        .init(
            .tablesSortedInUTF16, "Tables are listed in the order of the bytes of their names", "TAB-204",
            saying: "order"),
        .init(.newerFormatRead, "A store of a later format is refused", "TAB-205", saying: "newerFormat"),
        .init(.definitionNotAtomic, "Tables are defined all or none", "TAB-125", saying: "refused"),
        .init(.redefinitionLosesRows, "Another definition keeps the rows", "TAB-060", saying: "rows"),
        .init(.droppedColumnErased, "A column that is no longer named stays stored", "TAB-082", saying: "values"),
        .init(.changedTypeAccepted, "A column's type cannot change", "TAB-121", saying: "type"),
        .init(.tablesUnsorted, "Tables are listed in order of name", "TAB-005", saying: "order"),
        .init(.systemTablesNotListed, "The framework's tables are listed, too", "SYS-001", saying: "all tables"),
        .init(.newColumnIsZero, "A new column is null in the rows there are", "TAB-061", "OBS-008", saying: "null"),
        .init(
            .undefinedTableIsEmpty, "A table that was never defined is noSuchTable", "TAB-020", saying: "noSuchTable"),
        .init(.idTypeChangeAccepted, "The matching of ids cannot change", "TAB-124", saying: "match"),
        .init(.namesNotChecked, "Invalid definitions are refused", "TAB-045", saying: "schemaMismatch"),
        .init(
            .columnsMoveWithDefinition, "Values stay with their column when the definition's order changes", "TAB-063",
            saying: "column"),
        .init(.columnNamesIgnoreCase, "The names of columns differ in case", "FIL-132", saying: "column"),
        .init(
            .tableNamesComparedByBytes, "A name finds its table in any normalization form", "TAB-036",
            saying: "noSuchTable"),
        .init(
            .nameFormsNotChecked, "Names in another normalization form than C are refused", "TAB-036",
            saying: "schemaMismatch"),
        .init(
            .undefinedTableInDeleteIgnored, "Deleting from a table that was never defined is noSuchTable", "TAB-022",
            saying: "noSuchTable"),
        .init(.indexesNotListed, "The definitions listed are those that were given", "TAB-002", saying: "indexes"),
        .init(.optionalChangeIgnored, "A column can become required", "TAB-065", saying: "required"),
        .init(
            .retiredTypeForgotten, "A column that comes back has the type it is stored with", "TAB-085",
            saying: "type"),
        .init(
            .columnCaseChangeAccepted, "A column that differs from a stored one in case only is refused", "TAB-128",
            saying: "case"),
    ]
}
