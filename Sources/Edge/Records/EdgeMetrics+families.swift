import Exposition

extension EdgeMetrics {
    /// The metrics that the gateway records, as `/metrics` shows them.
    package static let families: [PrometheusMetrics.Family] = [
        .init("gatehouse_build_info", .gauge, help: "1, with the version that runs."),
        .init("process_cpu_seconds_total", .counter, help: "Processor time used, in seconds."),
        .init("process_resident_memory_bytes", .gauge, help: "Memory in use, in bytes."),
        .init("process_open_fds", .gauge, help: "File descriptors that are open."),
        .init("process_max_fds", .gauge, help: "File descriptors that may be open."),
        .init("process_start_time_seconds", .gauge, help: "When the process started, in seconds since the Unix epoch."),
        .init(
            "gatehouse_requests_total", .counter,
            help: "Answers by route (the configured path, api, page or none) and status; a socket counts when it opens."
        ),
        .init(
            "gatehouse_request_duration_seconds", .histogram,
            help: "From the head of a request to the end of its answer, without sockets."),
        .init(
            "gatehouse_upstream_duration_seconds", .histogram,
            help: "From the request to an upstream to the head of its answer."),
        .init(
            "gatehouse_proxied_requests_total", .counter,
            help: "Requests that were admitted to an upstream, whether or not it could be reached."),
        .init(
            "gatehouse_upgrades_total", .counter,
            help: "WebSockets that were admitted, whether or not the upstream accepted them."),
        .init("gatehouse_connections_total", .counter, help: "Client connections that were accepted."),
        .init(
            "gatehouse_open_connections", .gauge,
            help: "Client connections that are open; one of HTTP/2 counts once, however many streams it has."),
        .init("gatehouse_sockets", .gauge, help: "WebSockets that are open."),
        .init(
            "gatehouse_leases", .gauge, help: "Sockets and streams that end with the token or session they rest on."),
        .init("gatehouse_lease_ends_total", .counter, help: "Sockets and streams that were ended, by the reason."),
        .init("gatehouse_refusals_total", .counter, help: "Refusals by the code of their problem and the reason."),
        .init(
            "gatehouse_token_verifications_total", .counter,
            help: "Access tokens that were verified, by the result: accepted, or why not."),
        .init("gatehouse_token_cache_hits_total", .counter, help: "Access tokens that had been verified before."),
        .init("gatehouse_logins_total", .counter, help: "Attempts to sign in by method and result."),
        .init("gatehouse_login_queue", .gauge, help: "Logins that wait for a thread to hash their password."),
        .init("gatehouse_store_up", .gauge, help: "Whether the store answers and its change feed beats: 1 or 0."),
        .init(
            "gatehouse_store_refused_writes_total", .counter,
            help: "Writes that the store could not take: it is full, or can't be reached or written."),
        .init("gatehouse_store_duration_seconds", .histogram, help: "How long the store's operations take."),
        .init("gatehouse_feed_age_seconds", .gauge, help: "Time since the last beat of the store's change feed."),
        .init(
            "gatehouse_upstream_up", .gauge,
            help: "Whether the last attempt to connect to an upstream succeeded and its health checks, if any, pass."),
        .init(
            "gatehouse_upstream_ejections_total", .counter,
            help: "How often an upstream was left alone for a while because it failed requests."),
        .init(
            "gatehouse_log_lines_dropped_total", .counter,
            help: "Lines of a log that were dropped because it could not be written fast enough."),
        .init(
            "gatehouse_metrics_refused_total", .counter,
            help: "Metrics that record nothing, because there are too many series: restart the gateway."),
    ]
}
