internal import TidelineStore

extension StoreSession {
    /// Does what a sync client does, over the store.
    func sync(_ work: Work, _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        throw WorkNotApplicable("a store alone does not sync")
    }
}
