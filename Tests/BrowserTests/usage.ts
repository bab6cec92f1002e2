// Compiled by types.test.mjs as an adopter's program would be: nothing here is run.
import {
    Auth, ExperienceClient, Gatehouse, PlatformState, Refusal, RuntimeClient, SignedIn, afterClose,
} from 'gatehouse';

const gate = new Gatehouse({ base: 'https://gate.example' });

export async function signIn(email: string, password: string): Promise<string | null> {
    const before = await gate.start({ metadata: { cart: 7 } });
    const options = await gate.signInOptions();
    if (!options.password) await gate.loginWith(options.providers[0]?.name ?? 'keycloak', { returnTo: '/', max_age: '60' });
    try {
        const answer: SignedIn = await gate.login({ email, password });
        return answer.session.session_id === before.session_id ? answer.session.user_id : null;
    } catch (error) {
        if (error instanceof Refusal && error.isPassing) return error.code;
        throw error;
    }
}

export async function use(): Promise<number> {
    const stop = gate.on('event', (frame) => {
        if (frame.type === 'event' && frame.event === 'error') console.log(frame.seq, frame.error.code);
        // @ts-expect-error: `ready` has no seq.
        if (frame.type === 'ready') console.log(frame.seq);
    });
    gate.on('token', (token) => console.log(token?.expiresAt));
    // @ts-expect-error: there is no such event.
    gate.on('tokens', () => {});
    await gate.connect({ resumeFrom: 0 });
    const data = await gate.intent<{ n: number }>('echo', { n: 1 });
    stop();
    const answer = await gate.fetch(new URL('/orders', location.href), { method: 'POST', body: '{}' });
    const again = await gate.fetch(new Request('/orders'));
    // @ts-expect-error: a login takes both.
    gate.login({ email: 'a' });
    // @ts-expect-error: it is read, not set.
    gate.accessToken = 'x';
    const next: 'stop' | 'retry' | 'renew' = afterClose(4401, 'token_expired');
    return data.n + answer.status + again.status + next.length;
}

export async function inParts(): Promise<string> {
    const platform = new PlatformState({ baseUrl: 'https://gate.example', metadata: { cart: 7 } });
    platform.on('session', (session) => console.log(session.session_id));
    const { session_id: sessionId } = await platform.ready;
    const auth = new Auth(platform);
    auth.on('change', ({ userId }) => console.log(userId ?? 'signed out'));
    if (!auth.isAuthenticated) auth.goToSignIn('/orders');
    const runtime = new RuntimeClient({ accessToken: () => auth.accessToken, sessionId, autoReconnect: true });
    runtime.on('socket', (status) => console.log(status.offline ? 'offline' : status.state));
    // @ts-expect-error: it tells of no sessions.
    runtime.on('session', () => {});
    await runtime.connect();
    const api = new ExperienceClient({ authorized: (path, init) => platform.gate.fetch(path, init) });
    // @ts-expect-error: a wish says which scopes.
    api.createToken({ name: 'a', expires_in: 60 });
    const ids: string[] = (await api.sessions()).map((session) => session.session_id);
    await auth.logoutEverywhere();
    return ids.join() + (await api.me()).email + (await runtime.intent<{ n: number }>('echo', { n: 1 })).n;
}
