#if Serve
internal import Metrics
internal import Synchronization
internal import TidelineStore

/// A back end of swift-metrics that keeps all metrics in memory and returns them in the text format of Prometheus.
///
/// Timers and recorders that aggregate are histograms, timers in seconds.
final class PrometheusMetrics: MetricsFactory {
    private let descriptions: [String: String]
    /// The metrics by name and labels, such as `{table="Item"}`.
    private let samples = Mutex<[String: [String: Sample]]>([:])

    private static let secondBounds = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    private static let countBounds: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256]

    /// - Parameter descriptions: Texts for the page, by name. Metrics of libraries have none.
    init(descriptions: [String: String] = [:]) { self.descriptions = descriptions }

    // MARK: Metrics

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        sample(label, dimensions, .counter)
    }

    func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        sample(label, dimensions, .counter)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        sample(label, dimensions, .gauge)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        sample(label, dimensions, aggregate ? .histogram(Self.countBounds) : .gauge)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        sample(label, dimensions, .histogram(Self.secondBounds))
    }

    func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    private func sample(_ name: String, _ dimensions: [(String, String)], _ kind: Sample.Kind) -> Sample {
        let labels = dimensions.map { "\(Self.name($0))=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        return samples.withLock { samples in
            let (name, labels) = (Self.name(name), labels.isEmpty ? "" : "{\(labels)}")
            let known = samples[name]
            if let sample = known?[labels] { return sample }
            // All samples of a name are of one kind, that of the first.
            let sample = Sample(known?.values.first?.kind ?? kind)
            samples[name, default: [:]][labels] = sample
            return sample
        }
    }

    private func remove(_ handler: AnyObject) {
        samples.withLock { samples in
            for name in samples.keys { samples[name] = samples[name]?.filter { $1 !== handler } }
        }
    }

    // MARK: The page

    /// The page for a request of a Prometheus server.
    var page: String {
        var text = ""
        for (name, group) in samples.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            guard let kind = group.values.first?.kind else { continue }
            if let description = descriptions[name] { text += "# HELP \(name) \(description)\n" }
            text += "# TYPE \(name) \(kind.name)\n"
            for (labels, sample) in group.sorted(by: { $0.key < $1.key }) { text += sample.lines(name, labels) }
        }
        return text
    }

    /// Returns a name of letters, digits, and underscores.
    private static func name(_ text: String) -> String {
        let name = text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
        return (name.first?.isNumber ?? true ? "_" : "") + String(name)
    }

    private static func escaped(_ text: String) -> String {
        text.replacingUTF8("\\", with: "\\\\").replacingUTF8("\"", with: "\\\"").replacingUTF8("\n", with: "\\n")
    }
}

/// One metric of a page.
private final class Sample: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    enum Kind {
        case counter, gauge
        /// With the upper bounds of the buckets except the last one, which has none.
        case histogram([Double])

        var name: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        }
    }

    /// The value, or the sum of a histogram and its counts.
    private struct State {
        var value = 0.0
        var counts: [Int] = []
    }

    let kind: Kind
    private let state = Mutex(State())

    init(_ kind: Kind) {
        self.kind = kind
        reset()
    }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { state.withLock { $0.value += amount } }
    func decrement(by amount: Double) { increment(by: -amount) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { state.withLock { $0.value = value } }
    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Double) {
        guard case .histogram(let bounds) = kind else { return set(value) }
        state.withLock { state in
            state.counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
            state.value += value
        }
    }

    func reset() {
        state.withLock { state in
            state = State()
            if case .histogram(let bounds) = kind { state.counts = Array(repeating: 0, count: bounds.count + 1) }
        }
    }

    /// Returns the lines of the page for this metric.
    func lines(_ name: String, _ labels: String) -> String {
        let state = state.withLock { $0 }
        guard case .histogram(let bounds) = kind else { return "\(name)\(labels) \(Self.text(state.value))\n" }
        let others = labels.isEmpty ? "" : "," + labels.dropFirst().dropLast()
        var (text, total) = ("", 0)
        for (index, count) in state.counts.enumerated() {
            total += count
            let bound = index < bounds.count ? "\(bounds[index])" : "+Inf"
            text += "\(name)_bucket{le=\"\(bound)\"\(others)} \(total)\n"
        }
        return text + "\(name)_sum\(labels) \(state.value)\n\(name)_count\(labels) \(total)\n"
    }

    private static func text(_ value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }
}
#endif
