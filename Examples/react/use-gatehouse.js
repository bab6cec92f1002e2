import { useEffect, useSyncExternalStore } from 'react';
import { Auth, PlatformState } from 'gatehouse';

// One for the whole page: sessions and sockets belong to the page, not to a component.
const platform = new PlatformState();
const { gate } = platform;
const auth = new Auth(platform);

/** What components see. A new object whenever something has changed, and the same one as long as nothing has. */
let snapshot = read();
const listeners = new Set();

function read() {
    return { session: gate.session, isAuthenticated: platform.isAuthenticated, socket: gate.socket };
}
function changed() {
    snapshot = read();
    for (const listener of listeners) listener();
}
for (const name of ['session', 'token', 'socket']) gate.on(name, changed);

function subscribe(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
}

/** Session, socket and who is signed in; `auth` signs in and out, `gate.fetch` asks with credentials. */
export function useGatehouse() {
    return { ...useSyncExternalStore(subscribe, () => snapshot), auth, gate };
}

/** Calls `listener` with every event of the session's stream, and keeps the socket open while a user is signed in. */
export function useEvents(listener) {
    const { isAuthenticated } = useGatehouse();
    useEffect(() => gate.on('event', (frame) => frame.type === 'event' && listener(frame)), [listener]);
    useEffect(() => {
        if (isAuthenticated) gate.connect({ resumeFrom: 0 }).catch(() => {});
    }, [isAuthenticated]);
}
