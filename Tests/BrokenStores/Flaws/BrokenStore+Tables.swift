extension BrokenStore {
    /// Flaws in definitions.
    static let tables: [BrokenStore] = [
        BrokenStore(
            .redefinitionIgnored, breaks: "A redefinition applies the tables that its body returns",
            foundBy: ["TAB-206"], saying: "redefinition"),
        BrokenStore(
            .tablesSortedInUTF16, breaks: "Tables are listed in the order of the bytes of their names",
            foundBy: ["TAB-204"], saying: "order"),
        BrokenStore(
            .newerFormatRead, breaks: "A store of a later format is refused",
            foundBy: ["TAB-205"], saying: "newerFormat"),
        BrokenStore(
            .definitionNotAtomic, breaks: "Tables are defined all or none",
            foundBy: ["TAB-125"], saying: "refused"),
        BrokenStore(
            .redefinitionLosesRows, breaks: "Another definition keeps the rows",
            foundBy: ["TAB-060"], saying: "rows"),
        BrokenStore(
            .droppedColumnErased, breaks: "A column that is no longer named stays stored",
            foundBy: ["TAB-082"], saying: "values"),
        BrokenStore(
            .changedTypeAccepted, breaks: "A column's type cannot change",
            foundBy: ["TAB-121"], saying: "type"),
        BrokenStore(
            .tablesUnsorted, breaks: "Tables are listed in order of name",
            foundBy: ["TAB-005"], saying: "order"),
        BrokenStore(
            .systemTablesNotListed, breaks: "The framework's tables are listed, too",
            foundBy: ["SYS-001"], saying: "all tables"),
        BrokenStore(
            .newColumnIsZero, breaks: "A new column is null in the rows there are",
            foundBy: ["TAB-061", "OBS-008"], saying: "null"),
        BrokenStore(
            .undefinedTableIsEmpty, breaks: "A table that was never defined is noSuchTable",
            foundBy: ["TAB-020"], saying: "noSuchTable"),
        BrokenStore(
            .idTypeChangeAccepted, breaks: "The matching of ids cannot change",
            foundBy: ["TAB-124"], saying: "match"),
        BrokenStore(
            .namesNotChecked, breaks: "Invalid definitions are refused",
            foundBy: ["TAB-045"], saying: "schemaMismatch"),
        BrokenStore(
            .columnsMoveWithDefinition, breaks: "Values stay with their column when the definition's order changes",
            foundBy: ["TAB-063"], saying: "column"),
        BrokenStore(
            .columnNamesIgnoreCase, breaks: "The names of columns differ in case",
            foundBy: ["FIL-132"], saying: "column"),
        BrokenStore(
            .tableNamesComparedByBytes, breaks: "A name finds its table in any normalization form",
            foundBy: ["TAB-036"], saying: "noSuchTable"),
        BrokenStore(
            .nameFormsNotChecked, breaks: "Names in another normalization form than C are refused",
            foundBy: ["TAB-036"], saying: "schemaMismatch"),
        BrokenStore(
            .undefinedTableInDeleteIgnored, breaks: "Deleting from a table that was never defined is noSuchTable",
            foundBy: ["TAB-022"], saying: "noSuchTable"),
        BrokenStore(
            .indexesNotListed, breaks: "The definitions listed are those that were given",
            foundBy: ["TAB-002"], saying: "indexes"),
        BrokenStore(
            .optionalChangeIgnored, breaks: "A column can become required",
            foundBy: ["TAB-065"], saying: "required"),
        BrokenStore(
            .retiredTypeForgotten, breaks: "A column that comes back has the type it is stored with",
            foundBy: ["TAB-085"], saying: "type"),
        BrokenStore(
            .columnCaseChangeAccepted, breaks: "A column that differs from a stored one in case only is refused",
            foundBy: ["TAB-128"], saying: "case"),
    ]
}
