// For Next.js: every page and route handler is reached with an assertion only. Runs in the Node.js runtime.
import { NextResponse, type NextRequest } from 'next/server';
import { AssertionVerifier, NotAsserted } from './assertion.mjs';

const verifier = new AssertionVerifier({
    issuer: process.env.GATEHOUSE ?? 'http://127.0.0.1:8080',
    audience: process.env.AUDIENCE ?? '/orders',
});

export async function middleware(request: NextRequest) {
    try {
        const claims = await verifier.verify(request.headers.get('x-gatehouse-assertion'));
        const headers = new Headers(request.headers);
        headers.set('x-user', String(claims.sub));
        return NextResponse.next({ request: { headers } });
    } catch (error) {
        return NextResponse.json({ error: 'not signed in' }, { status: error instanceof NotAsserted ? 401 : 503 });
    }
}

export const config = { runtime: 'nodejs', matcher: '/((?!_next/static|favicon.ico).*)' };
