import Exposition
import Metrics
import Testing

@Suite("Metrics as text")
struct PrometheusMetricsTests {
    @Test("Families are shown in the order declared, with help and type, even before they have a sample")
    func families() {
        let metrics = PrometheusMetrics(families: [
            .init("b_total", .counter, help: "Counts b."), .init("a", .gauge, help: "Is\na \\."),
        ])
        Counter(label: "b_total", factory: metrics).increment(by: 3)
        #expect(
            metrics.text() == """
                # HELP b_total Counts b.
                # TYPE b_total counter
                b_total 3
                # HELP a Is\\na \\\\.
                # TYPE a gauge

                """)
    }

    @Test("Metrics of one label and dimensions share their value; samples are ordered by dimensions")
    func sharing() {
        let metrics = PrometheusMetrics()
        for code in ["b", "a", "b"] {
            Counter(label: "x_total", dimensions: [("code", code)], factory: metrics).increment()
        }
        #expect(
            metrics.text() == """
                # HELP x_total x_total
                # TYPE x_total counter
                x_total{code="a"} 1
                x_total{code="b"} 2

                """)
    }

    @Test("A gauge is the last value, a meter goes up and down, a counter never goes down")
    func kinds() {
        let metrics = PrometheusMetrics()
        let gauge = Gauge(label: "gauge", factory: metrics)
        gauge.record(7)
        gauge.record(2.5)
        let meter = Meter(label: "meter", factory: metrics)
        meter.set(4)
        meter.decrement(by: 1)
        let counter = Counter(label: "counter", factory: metrics)
        counter.increment(by: 2)
        counter.increment(by: -5)
        let lines = metrics.text().split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines == ["gauge 2.5", "meter 3", "counter 2"])
    }

    @Test("A timer is a histogram of seconds")
    func timers() {
        let metrics = PrometheusMetrics()
        let timer = Timer(label: "t_seconds", dimensions: [("route", "/a\"\\\n")], factory: metrics)
        for milliseconds in [0.5, 3, 20_000] { timer.recordNanoseconds(Int64(milliseconds * 1e6)) }
        let lines = metrics.text().split(separator: "\n")
        let route = #"route="/a\"\\\n""#
        #expect(lines.contains("# TYPE t_seconds histogram"))
        #expect(lines.contains("t_seconds_bucket{\(route),le=\"0.0005\"} 1"))
        #expect(lines.contains("t_seconds_bucket{\(route),le=\"0.005\"} 2"))
        #expect(lines.contains("t_seconds_bucket{\(route),le=\"10\"} 2"))
        #expect(lines.contains("t_seconds_bucket{\(route),le=\"+Inf\"} 3"))
        #expect(lines.contains("t_seconds_sum{\(route)} 20.0035"))
        #expect(lines.contains("t_seconds_count{\(route)} 3"))
    }

    @Test("A name that the format does not allow is spelled with underscores")
    func names() {
        let metrics = PrometheusMetrics()
        Counter(label: "9a.b-c", dimensions: [("d:e", "f")], factory: metrics).increment()
        #expect(metrics.text().hasSuffix("_9a_b_c{d_e=\"f\"} 1\n"))
    }

    @Test("Series beyond the limit are counted and not shown, nor are metrics of another kind than their family")
    func bounds() {
        let metrics = PrometheusMetrics(seriesLimit: 3)
        #expect(metrics.refusedMetrics == 0)
        for number in 0..<10 {
            Counter(label: "x", dimensions: [("n", "\(number)")], factory: metrics).increment()
        }
        Gauge(label: "x", dimensions: [("n", "0")], factory: metrics).record(9)
        let lines = metrics.text().split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines == ["x{n=\"0\"} 1", "x{n=\"1\"} 1", "x{n=\"2\"} 1"])
        #expect(metrics.refusedMetrics == 7)
    }

    @Test("Nothing that many threads record at once is lost")
    func threads() async {
        let metrics = PrometheusMetrics()
        let counter = Counter(label: "count", factory: metrics)
        let meter = Meter(label: "meter", factory: metrics)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<100_000 {
                        counter.increment()
                        meter.increment()
                    }
                }
            }
        }
        let lines = metrics.text().split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines == ["count 800000", "meter 800000"])
    }
}
