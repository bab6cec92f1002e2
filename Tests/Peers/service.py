"""A FastAPI service that wants a token, checked as the library's own documentation shows, or with `strict` also with
every further check that the library has an option for: `service.py LIBRARY PORT KEY documented|strict`."""

import sys

import uvicorn
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

ISSUER, AUDIENCE = "https://issuer.example", "peers"
library, port, key = sys.argv[1], int(sys.argv[2]), open(sys.argv[3]).read()
strict = sys.argv[4] == "strict"


def pyjwt(token):
    import jwt
    options = {"require": ["exp", "iss", "aud", "sub"]}
    if strict:
        options = {"require": ["exp", "iss", "aud", "sub", "iat", "nbf", "jti"], "strict_aud": True,
                   "enforce_minimum_key_length": True}
    return jwt.decode(token, key, algorithms=["RS256"], audience=AUDIENCE, issuer=ISSUER, options=options)


def python_jose(token):
    from jose import jwt
    names = ["exp", "sub"] + (["aud", "iss", "iat", "nbf", "jti"] if strict else [])
    return jwt.decode(token, key, algorithms=["RS256"], audience=AUDIENCE, issuer=ISSUER,
                      options={f"require_{name}": True for name in names})


def joserfc(token):
    from joserfc import jwt
    from joserfc.jwk import RSAKey
    from joserfc.jws import JWSRegistry
    from joserfc.registry import HeaderParameter
    registry, further = None, {}
    if strict:
        names = {"kid": HeaderParameter("the key", "str", True), "typ": HeaderParameter("the kind", "str", True)}
        registry = JWSRegistry(header_registry=names, algorithms=["RS256"])
        further = {name: {"essential": True} for name in ("iat", "nbf", "jti")}
    claims = jwt.decode(token, RSAKey.import_key(key), algorithms=["RS256"], registry=registry).claims
    jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": ISSUER}, aud={"essential": True, "value": AUDIENCE},
        exp={"essential": True}, sub={"essential": True}, **further).validate(claims)
    return claims


def authlib(token):
    from authlib.jose import JsonWebToken
    further = {name: {"essential": True} for name in ("iat", "nbf", "jti")} if strict else {}
    claims = JsonWebToken(["RS256"], private_headers=[] if strict else None).decode(token, key, claims_options={
        "iss": {"essential": True, "value": ISSUER}, "aud": {"essential": True, "value": AUDIENCE},
        "exp": {"essential": True}, "sub": {"essential": True}} | further)
    claims.validate()
    return claims


VERIFY = {"pyjwt": pyjwt, "python-jose": python_jose, "joserfc": joserfc, "authlib": authlib}[library]
app = FastAPI()


def claims(credentials: HTTPAuthorizationCredentials = Depends(HTTPBearer())):
    try:
        return VERIFY(credentials.credentials)
    except Exception as error:
        raise HTTPException(401) from error


@app.get("/protected")
def protected(_=Depends(claims)):
    return {"secret": "what is protected"}


uvicorn.run(app, host="127.0.0.1", port=port, log_level="critical")
