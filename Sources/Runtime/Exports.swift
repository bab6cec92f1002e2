// Realms take and return JSON, so importing Runtime imports these types as well.
@_exported import Encodings
