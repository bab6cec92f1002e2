"""Serves metadata documents of clients over TLS: client_documents.py CERTIFICATE KEY. Prints its port. The path says what
is served; /count says how many documents were asked for."""

import http.server
import json
import ssl
import sys
import time

asked = []


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        own = f"https://localhost:{self.server.server_port}{self.path}"
        document = {"client_id": own, "client_name": "Document client", "redirect_uris": ["https://app.example/cb"]}
        status, body = 200, None
        if self.path == "/count":
            body = json.dumps(len(asked))
        else:
            asked.append(self.path)
        if self.path.startswith("/foreign"):
            document["client_id"] = "https://app.example/other"
        if self.path.startswith("/secret"):
            document["token_endpoint_auth_method"] = "client_secret_post"
        if self.path.startswith("/huge"):
            document["padding"] = "x" * 70_000
        if self.path.startswith("/redirect"):
            status = 302
        if self.path.startswith("/target"):
            # Who follows the redirect finds a document that is good for its start.
            document["client_id"] = own.replace("/target", "/redirect")
        if self.path.startswith("/missing"):
            status = 404
        if self.path.startswith("/slow"):
            time.sleep(7)
        payload = (body or json.dumps(document)).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if self.path.startswith("/text") else "application/json")
            if status == 302:
                self.send_header("Location", "/target")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)
        except OSError:
            pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
