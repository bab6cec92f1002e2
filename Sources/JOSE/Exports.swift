// Whoever speaks JOSE speaks base64url and JSON.
@_exported import Encodings
