internal import Dispatch

extension SyncEnvironment {
    /// The executors on which a client's blocking calls of its store run, so that they never block the threads of
    /// Swift's cooperative pool.
    ///
    /// A call runs within its caller's task: the store sees the task's priority, task-local values, and cancellation.
    /// Each transaction is one job.
    public struct StoreExecutor: Sendable {
        /// The executor of write transactions and definitions. It runs one job at a time, in the order in which they
        /// are enqueued.
        public var writes: any SerialExecutor
        /// The executor of read transactions. It may run several jobs at a time.
        public var reads: any TaskExecutor

        /// Creates an executor from two others, which may be the same object: a simulation can run all transactions on
        /// one thread.
        public init(writes: any SerialExecutor, reads: any TaskExecutor) {
            self.writes = writes
            self.reads = reads
        }

        /// Creates an executor that uses dispatch queues: a serial queue for writes, and a concurrent queue for reads.
        public init() {
            self.init(
                writes: WriteQueue(DispatchQueue(label: "tideline.store.write")),
                reads: ReadQueue(DispatchQueue(label: "tideline.store.read", attributes: .concurrent)))
        }
    }
}

private final class WriteQueue: SerialExecutor {
    private let queue: DispatchQueue

    init(_ queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.run(job) { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

private final class ReadQueue: TaskExecutor {
    private let queue: DispatchQueue

    init(_ queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.run(job) { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension DispatchQueue {
    /// Runs a job with the quality of service that corresponds to the priority of its task.
    fileprivate func run(_ job: UnownedJob, _ body: @escaping @Sendable () -> Void) {
        let qualityOfService: DispatchQoS
        switch TaskPriority(job.priority) ?? .medium {
        case .high...: qualityOfService = .userInitiated
        // Without one, dispatch needs no work item.
        case .medium...: return async(execute: body)
        case .low...: qualityOfService = .utility
        default: qualityOfService = .background
        }
        async(qos: qualityOfService, execute: body)
    }
}
