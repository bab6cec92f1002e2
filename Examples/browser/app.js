import { Gatehouse } from '/gatehouse.js';

const gate = new Gatehouse();
const at = (id) => document.getElementById(id);
const trouble = (refusal) => { at('trouble').textContent = `${refusal.code}: ${refusal.message}`; };

gate.on('session', (session) => {
    at('session').textContent = session?.session_id ?? 'none';
    at('state').textContent = session?.state ?? 'over';
});
gate.on('socket', ({ state, reason }) => { at('socket').textContent = reason ? `${state} (${reason})` : state; });
gate.on('refusal', trouble);
gate.on('event', (frame) => {
    if (frame.type !== 'event') return;
    const line = document.createElement('li');
    line.textContent = `${frame.seq}: ${JSON.stringify(frame.data ?? frame.error)}`;
    at('heard').append(line);
});

at('login').addEventListener('submit', async (event) => {
    event.preventDefault();
    const { email, password } = Object.fromEntries(new FormData(event.target));
    await gate.login({ email, password }).then(() => gate.connect()).catch(trouble);
});
at('logout').addEventListener('click', () => gate.logout().then(() => gate.start()).catch(trouble));
at('say').addEventListener('submit', async (event) => {
    event.preventDefault();
    const text = new FormData(event.target).get('text');
    event.target.reset();
    await gate.intent('echo', { text }).catch(trouble);
});

await gate.start().catch(trouble);
if (gate.authorized) await gate.connect({ resumeFrom: 0 }).catch(trouble);
