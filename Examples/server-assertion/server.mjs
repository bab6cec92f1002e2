// A server behind the gateway: it answers with the caller that the gateway asserts, and refuses requests without an assertion.
import { createServer } from 'node:http';
import { AssertionVerifier, NotAsserted } from './assertion.mjs';

const verifier = new AssertionVerifier({
    issuer: process.env.GATEHOUSE ?? 'http://127.0.0.1:8080',   // tokens.issuer
    audience: process.env.AUDIENCE ?? '/orders',                // the route's audience
});

const server = createServer(async (request, response) => {
    const answer = (status, body) => {
        response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
        response.end(JSON.stringify(body));
    };
    try {
        const { sub, tenant_id: tenant, email } = await verifier.verify(request.headers['x-gatehouse-assertion']);
        answer(200, { path: request.url, user: sub, tenant, email });
    } catch (error) {
        if (error instanceof NotAsserted) answer(401, { error: error.message });
        else answer(503, { error: 'the gateway’s keys could not be had' });
    }
});
server.listen(Number(process.env.PORT ?? 8000), '127.0.0.1', () => console.log(`ready ${server.address().port}`));
