// How long Node's `session.close()` takes when nothing is under way: node http2_close.mjs PORT
import http2 from 'node:http2';

const session = http2.connect(`https://localhost:${process.argv[2]}`, { rejectUnauthorized: false });
const limit = setTimeout(() => tell(30), 60_000);
let began;

function tell(seconds) {
    console.log(JSON.stringify({ node: seconds }));
    clearTimeout(limit);
    process.exit(0);
}

session.on('error', (error) => { console.error(error); process.exit(1); });
session.on('close', () => tell(Math.min(30, (performance.now() - began) / 1000)));
const request = session.request({ ':path': '/' });
request.on('end', () => {
    began = performance.now();
    session.close();
});
request.resume();
request.end();
