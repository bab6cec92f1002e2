// What a realm is given and what it answers is JSON: whoever writes one needs these types and no further import.
@_exported import Encodings
