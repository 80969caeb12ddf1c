public import TidelineStore

/// The sender of a request: a user, or a client that has not signed in.
///
/// A ``TableService`` does not authenticate requests. The caller of ``TableService/handle(_:body:caller:)`` does, for
/// example by the signature of a token, and names the user.
public struct Caller: Sendable, CustomStringConvertible {
    /// The user's identifier, or `nil` for an anonymous caller. Users are compared by the bytes of their identifiers.
    public let userID: String?
    /// When the caller's sign-in ends, or `nil` if it does not. A ``ChangeSignal`` ends its responses then; the caller
    /// of ``TableService/handle(_:body:caller:)`` checks it before each request.
    public let expiration: Timestamp?

    /// Creates a caller. One with an empty identifier is anonymous.
    public init(userID: String?, expiration: Timestamp? = nil) {
        self.userID = userID.flatMap { $0.isEmpty ? nil : $0 }
        self.expiration = expiration
    }

    /// A caller that has not signed in.
    public static let anonymous = Caller(userID: nil)
    /// Returns the caller for a signed-in user.
    public static func user(_ id: String, until expiration: Timestamp? = nil) -> Caller {
        Caller(userID: id, expiration: expiration)
    }

    /// A description for logs: `user "ID"`, or `anonymous`.
    public var description: String { userID.map { "user \($0.debugDescription)" } ?? "anonymous" }
}

/// The callers that may read and change the rows of a table.
///
/// ```swift
/// var options = TableServiceOptions(schemas: tables)
/// options.defaultRights = .signedIn
/// options.rights["TodoItem"] = .owned(by: "userId")
/// options.rights["Country"] = TableRights(read: .anyone, insert: .nobody, update: .nobody, delete: .nobody)
/// ```
///
/// A request that needs a sign-in is answered with 401 and `WWW-Authenticate: Bearer`, and a request of a signed-in
/// user without the right with 403. Both answers are the same whether or not a row exists.
///
/// ## Owned rows
///
/// In a table with an ``owner`` column, each row belongs to the user whose identifier is in this column. For everyone
/// else the row does not exist: it is in no page and no count, a lookup or a change is answered with 404, and an insert
/// of its id with 409 without the row. The service sets the column; a request that names another owner is answered with
/// 403.
///
/// A row without an owner belongs to nobody, and no request can read or change it. This concerns the existing rows of a
/// table that gains an owner column, until the column is set directly in the store.
public struct TableRights: Sendable, Hashable {
    /// The callers that have a right.
    public enum Holder: String, Sendable, Hashable, CaseIterable {
        /// Every caller, also without a sign-in.
        case anyone
        /// Every user.
        case signedIn = "signed-in"
        /// No caller.
        case nobody
    }

    /// The column with the identifier of a row's user, or `nil` if the rows of the table have no owner.
    ///
    /// It is a string column of the app. With an owner, no right can be held by ``Holder/anyone``.
    public var owner: String?
    /// The right to read rows, and to receive the server's row in response to an insert of an id that exists.
    public var read: Holder
    /// The right to insert rows.
    public var insert: Holder
    /// The right to change rows, and to restore deleted ones. It includes no caller without the right to read, because
    /// the response contains the row.
    public var update: Holder
    /// The right to delete rows. It includes no caller without the right to read, because the response contains the
    /// row.
    public var delete: Holder

    /// Creates rights. All are held by every user unless specified otherwise.
    public init(
        owner: String? = nil, read: Holder = .signedIn, insert: Holder = .signedIn, update: Holder = .signedIn,
        delete: Holder = .signedIn
    ) {
        self.owner = owner
        self.read = read
        self.insert = insert
        self.update = update
        self.delete = delete
    }

    /// Everyone may do everything.
    public static let open = TableRights(read: .anyone, insert: .anyone, update: .anyone, delete: .anyone)
    /// Every user may do everything.
    public static let signedIn = TableRights()
    /// Every user may do everything with the rows that belong to the user.
    public static func owned(by column: String) -> TableRights { TableRights(owner: column) }

    /// Checks that the rights do not contradict each other.
    ///
    /// - Throws: ``StoreError/Code/schemaMismatch`` if they do.
    /// - Parameter table: The name of the table in the error.
    public func validate(for table: String) throws(StoreError) {
        func refuse(_ message: String) -> StoreError {
            StoreError(.schemaMismatch, message, table: table, column: owner)
        }
        let rights = [("read", read), ("insert", insert), ("update", update), ("delete", delete)]
        for (name, holder) in rights where owner != nil && holder == .anyone {
            throw refuse(
                "a table with an owner column cannot give \"\(name)\" to anyone; use \"signed-in\" or \"nobody\"")
        }
        for (name, holder) in [("update", update), ("delete", delete)] where holder.isWider(than: read) {
            throw refuse(
                "\"\(name)\" is \"\(holder.rawValue)\" but \"read\" is only \"\(read.rawValue)\"; the response to a change"
                    + " contains the row, so those who may change rows must be allowed to read them")
        }
    }
}

extension TableRights.Holder {
    fileprivate func isWider(than other: Self) -> Bool {
        switch (self, other) {
        case (.anyone, .signedIn), (.anyone, .nobody), (.signedIn, .nobody): true
        default: false
        }
    }
}
