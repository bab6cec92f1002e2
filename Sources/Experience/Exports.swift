// An adopter imports only `Experience`; the types of the configuration come with it, the JSON of audit events, and what
// identifies a span.
@_exported public import EdgeConfiguration
@_exported public import Encodings
@_exported public import Spans
