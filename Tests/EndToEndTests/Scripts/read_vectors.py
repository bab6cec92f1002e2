"""Reads the vectors of `gatehouse attack --export` as another language does: `read_vectors.py FILE SCHEMA`.

Validates the file against its schema and judges every token with PyJWT. Prints, for each set, whether the good token is
accepted and which vectors PyJWT judges otherwise than the file.
"""

import base64
import json
import sys

import jsonschema
import jwt

with open(sys.argv[1]) as file:
    vectors = json.load(file)
with open(sys.argv[2]) as file:
    jsonschema.validate(vectors, json.load(file), cls=jsonschema.Draft202012Validator)


def accepts(token, one, key):
    try:
        jwt.decode(token, key, algorithms=[one["algorithm"]], audience=one["audience"], issuer=one["issuer"],
                   options={"require": ["exp", "iss", "aud", "sub"]})
        return True
    except Exception:
        return False


found = {}
for one in vectors["sets"]:
    key = jwt.PyJWK(one["key_set"]["keys"][0])
    wrong, groups = [], {}
    for vector in one["vectors"]:
        if "token" in vector:
            token = vector["token"].encode()
        else:
            text = vector["token_base64url"]
            token = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        groups[vector["group"]] = groups.get(vector["group"], 0) + 1
        if accepts(token, one, key) != vector["accept"]:
            wrong.append(vector["id"])
    found[one["algorithm"]] = {
        "good": accepts(one["good_token"], one, key), "count": len(one["vectors"]), "groups": groups, "wrong": wrong}
print(json.dumps(found))
