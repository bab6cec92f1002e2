// The API of JOSE uses the types of JSON and base64url, so importing JOSE imports them as well.
@_exported import Encodings
