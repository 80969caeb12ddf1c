public import Testing
public import TidelineStore

/// Expects that `body` throws a ``StoreError`` with the given code, and returns the error.
@discardableResult
public func expectError(
    _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> StoreError? {
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation, performing: body)
    let thrown = error.map(String.init(describing:)) ?? "nothing thrown"
    #expect(error?.code == code, "\(thrown)", sourceLocation: sourceLocation)
    return error
}
