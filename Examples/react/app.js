import { createElement as h, useCallback, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useEvents, useGatehouse } from './use-gatehouse.js';

function SignIn() {
    const { auth } = useGatehouse();
    const [trouble, setTrouble] = useState('');
    const submit = (event) => {
        event.preventDefault();
        const { email, password } = Object.fromEntries(new FormData(event.target));
        auth.login({ email, password }).catch((refusal) => setTrouble(`${refusal.code}: ${refusal.message}`));
    };
    return h('form', { onSubmit: submit },
        h('label', null, 'E-mail ', h('input', { name: 'email', type: 'email', autoComplete: 'username', required: true })),
        h('label', null, ' Password ',
            h('input', { name: 'password', type: 'password', autoComplete: 'current-password', required: true })),
        h('button', null, 'Sign in'), h('p', { role: 'alert' }, trouble));
}

function Stream() {
    const { auth, gate, socket } = useGatehouse();
    const [events, setEvents] = useState([]);
    useEvents(useCallback((frame) => setEvents((before) => [...before.slice(-99), frame]), []));
    return h('section', null,
        h('p', null, 'The socket is ', h('strong', null, socket.state), '.'),
        h('button', { onClick: () => gate.intent('echo', { at: new Date().toISOString() }).catch(() => {}) }, 'Say something'),
        h('button', { onClick: () => auth.logout() }, 'Sign out'),
        h('ol', null, ...events.map((frame) => h('li', { key: frame.seq }, JSON.stringify(frame.data ?? frame.error)))));
}

function App() {
    const { session, isAuthenticated } = useGatehouse();
    return h('main', null, h('h1', null, 'React with a session'),
        h('p', null, 'Session ', h('code', null, session?.session_id ?? '…')),
        isAuthenticated ? h(Stream) : h(SignIn));
}

createRoot(document.getElementById('root')).render(h(App));
