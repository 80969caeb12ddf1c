internal import TidelineStore

/// What the model says of a write: what must come of each of its changes, and of the whole.
struct WritePlan {
    /// What must come of one change.
    enum Expectation {
        case result(Script.Result)
        /// It throws, and the body throws that on.
        case refusal(StoreError.Code)
        /// It throws, the body passes over that, and the transaction goes on, as the store was not reached.
        case refusedBeforehand(StoreError.Code)
        /// It throws, the body passes over that, and the transaction can only be rolled back.
        case spoiling(StoreError.Code)
        /// The transaction can only be rolled back; what comes of this change is not said.
        case anything
    }

    /// How the write must end.
    enum End {
        case commits
        /// The body's own error comes out.
        case rollsBack
        case refused(StoreError.Code)
        /// Some error of the store's comes out.
        case fails
    }

    /// What must come of each change, up to the first one that ends the body, with the model after it.
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
