// The browser client as a package: node --test Tests/BrowserTests/types.test.mjs
// Packs it as npm would, imports it by its name, and compiles a program against its types (Debian's node-typescript).
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const assets = fileURLToPath(new URL('../../Sources/Web/Assets/', import.meta.url));
const tests = fileURLToPath(new URL('.', import.meta.url));
const manifest = JSON.parse(readFileSync(join(assets, 'package.json'), 'utf8'));
let place;

before(() => {
    place = mkdtempSync(join(tmpdir(), 'gatehouse-types-'));
    const folder = join(place, 'node_modules', manifest.name);
    mkdirSync(folder, { recursive: true });
    // What `npm pack` takes: the manifest, and what it lists.
    for (const file of ['package.json', ...manifest.files]) cpSync(join(assets, file), join(folder, file));
    cpSync(join(tests, 'usage.ts'), join(place, 'usage.ts'));
});
after(() => rmSync(place, { recursive: true, force: true }));

test('The package is imported by its name', () => {
    const script = "import('gatehouse').then((m) => console.log(Object.keys(m).sort().join()))";
    const names = execFileSync('node', ['--input-type=module', '--eval', script], { cwd: place, encoding: 'utf8' });
    assert.equal(names.trim(), 'Auth,ExperienceClient,Gatehouse,PlatformState,Refusal,RuntimeClient,'
        + 'afterClose,backOff,canUsePasskeys,readAnswer,returnTarget');
    const inner = "import('gatehouse/gatehouse.js').then(() => console.log('in'), (e) => console.log(e.code))";
    assert.match(execFileSync('node', ['--eval', inner], { cwd: place, encoding: 'utf8' }), /ERR_PACKAGE_PATH_NOT_EXPORTED/);
});

const compiler = spawnSync('tsc', ['--version']).status === 0 ? false : 'tsc is not installed';

test('A program compiles against the types, and its mistakes do not', { skip: compiler }, () => {
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'es2022', '--moduleResolution', 'node',
        '--lib', 'es2022,dom,dom.iterable'];
    const found = spawnSync('tsc', [...options, 'usage.ts'], { cwd: place, encoding: 'utf8' });
    assert.equal(found.status, 0, found.stdout);
});

test('The types have what the module has, and nothing else', { skip: compiler }, async () => {
    let typescript;
    try { typescript = createRequire('/usr/share/nodejs/')('typescript'); } catch { return; }
    const client = await import(join(assets, 'gatehouse.js'));
    const text = readFileSync(join(assets, 'gatehouse.d.ts'), 'utf8');
    const source = typescript.createSourceFile('gatehouse.d.ts', text, typescript.ScriptTarget.ES2022, true);
    const told = { values: [] };
    for (const statement of source.statements) {
        if (typescript.isFunctionDeclaration(statement)) told.values.push(statement.name.text);
        if (!typescript.isClassDeclaration(statement)) continue;
        told.values.push(statement.name.text);
        const names = statement.members.map((member) => member.name?.text ?? 'constructor');
        told[statement.name.text] = [...new Set(names)].sort();
    }
    assert.deepEqual(told.values.sort(), Object.keys(client).sort());
    assert.deepEqual(told.Gatehouse, Object.getOwnPropertyNames(client.Gatehouse.prototype).sort());
    for (const name of ['Auth', 'RuntimeClient', 'ExperienceClient']) {
        assert.deepEqual(told[name], Object.getOwnPropertyNames(client[name].prototype).sort(), name);
    }
    const platform = [...Object.getOwnPropertyNames(client.PlatformState.prototype), 'ready'];
    assert.deepEqual(told.PlatformState, platform.sort());
    const refusal = new client.Refusal({}, 500);
    const own = Object.keys(refusal).filter((name) => name !== 'name');
    assert.deepEqual(told.Refusal, [...own, ...Object.getOwnPropertyNames(client.Refusal.prototype)].sort());
});
