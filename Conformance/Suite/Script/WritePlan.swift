internal import TidelineStore

/// The expected result of a write: of each of its changes and of the whole.
struct WritePlan {
    /// The expected result of one change.
    enum Expectation {
        case result(Script.Result)
        /// The change throws, and the body rethrows the error.
        case refusal(StoreError.Code)
        /// The change throws before it reaches the store, the body catches the error, and the transaction continues.
        case refusedBeforehand(StoreError.Code)
        /// The change throws, the body catches the error, and the transaction can only be rolled back.
        case spoiling(StoreError.Code)
        /// The transaction can only be rolled back; the result of this change is unspecified.
        case anything
    }

    /// The expected end of the write.
    enum End {
        case commits
        /// The write rethrows the body's own error.
        case rollsBack
        case refused(StoreError.Code)
        /// The write throws some error of the store.
        case fails
    }

    /// The expected result of each change and the model after it, up to the first change that ends the body.
    private(set) var steps: [(expectation: Expectation, model: StoreModel)] = []
    private(set) var end: End
    /// The model after the write.
    private(set) var model: StoreModel

    init(_ changes: [Script.Change], commits: Bool, in model: StoreModel) {
        self.model = model
        end = commits ? .commits : .rollsBack
        var inner = model
        var isSpoilt = false
        for change in changes {
            let expectation = isSpoilt ? .anything : WritePlan.expectation(of: change, in: &inner)
            steps.append((expectation, inner))
            if case .spoiling = expectation { isSpoilt = true }
            if case .refusal(let code) = expectation {
                end = .refused(code)
                return
            }
        }
        guard commits else { return }
        if isSpoilt { end = .fails } else { self.model = inner }
    }

    private static func expectation(of change: Script.Change, in model: inout StoreModel) -> Expectation {
        do throws(Refusal) {
            return .result(try model.apply(change))
        } catch {
            guard case .attempt(let rows, let table) = change else { return .refusal(error.code) }
            // Rows that cannot be packed for the table never reach the store.
            let isPackable = model.tables[table].map { (try? $0.schema.packed(rows)) != nil } ?? false
            return isPackable ? .spoiling(error.code) : .refusedBeforehand(error.code)
        }
    }
}
