extension StoreSession {
    /// Does what a sync client does, over the store.
    func sync(_ work: SyncWork, _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        guard case .restart = work else { return try now.sync.perform(work, noting: latencies) }
        guard now.store.capabilities.isPersistent else { throw WorkNotApplicable("keeps nothing") }
        try now.store.close()
        return try latencies.time { try openAgain().sync.perform(work, noting: LatencySink()) }
    }
}
