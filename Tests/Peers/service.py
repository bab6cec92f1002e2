"""A FastAPI service that wants a token, checked as the library's own documentation shows: `service.py LIBRARY PORT KEY`."""

import sys

import uvicorn
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

ISSUER, AUDIENCE = "https://issuer.example", "peers"
library, port, key = sys.argv[1], int(sys.argv[2]), open(sys.argv[3]).read()


def pyjwt(token):
    import jwt
    return jwt.decode(token, key, algorithms=["RS256"], audience=AUDIENCE, issuer=ISSUER,
                      options={"require": ["exp", "iss", "aud", "sub"]})


def python_jose(token):
    from jose import jwt
    return jwt.decode(token, key, algorithms=["RS256"], audience=AUDIENCE, issuer=ISSUER,
                      options={"require_exp": True, "require_sub": True})


def joserfc(token):
    from joserfc import jwt
    from joserfc.jwk import RSAKey
    claims = jwt.decode(token, RSAKey.import_key(key), algorithms=["RS256"]).claims
    jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": ISSUER}, aud={"essential": True, "value": AUDIENCE},
        exp={"essential": True}, sub={"essential": True}).validate(claims)
    return claims


def authlib(token):
    from authlib.jose import JsonWebToken
    claims = JsonWebToken(["RS256"]).decode(token, key, claims_options={
        "iss": {"essential": True, "value": ISSUER}, "aud": {"essential": True, "value": AUDIENCE},
        "exp": {"essential": True}, "sub": {"essential": True}})
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
