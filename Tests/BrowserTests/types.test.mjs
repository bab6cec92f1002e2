// The browser client as a package: node --test Tests/BrowserTests/types.test.mjs
// Packs it as npm would, imports it by its name, and compiles a program against its types (Debian's node-typescript).
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

const npm = spawnSync('npm', ['--version']).status === 0 ? false : 'npm is not installed';

test('What npm packs are these files and nothing else, and it is imported by its name', { skip: npm }, () => {
    const env = { ...process.env, npm_config_cache: join(place, 'cache'), npm_config_update_notifier: 'false' };
    const told = execFileSync('npm', ['pack', '--json', '--offline', '--pack-destination', place, assets], { cwd: place, env, encoding: 'utf8' });
    const [{ filename, files }] = JSON.parse(told);
    assert.deepEqual(files.map(({ path }) => path).sort(), ['package.json', ...manifest.files].sort());
    const folder = join(place, 'packed/node_modules', manifest.name);
    mkdirSync(folder, { recursive: true });
    execFileSync('tar', ['-xzf', join(place, filename), '-C', folder, '--strip-components', '1']);
    const script = "import('gatehouse').then(({ Refusal }) => console.log(new Refusal({ code: 'c' }, 403).code))";
    const said = execFileSync('node', ['--input-type=module', '--eval', script], { cwd: join(place, 'packed'), encoding: 'utf8' });
    assert.equal(said.trim(), 'c');
});

const compiler = spawnSync('tsc', ['--version']).status === 0 ? false : 'tsc is not installed';

test('A program compiles against the types, and its mistakes do not', { skip: compiler }, () => {
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'es2022', '--moduleResolution', 'node',
        '--lib', 'es2022,dom,dom.iterable'];
    const found = spawnSync('tsc', [...options, 'usage.ts'], { cwd: place, encoding: 'utf8' });
    assert.equal(found.status, 0, found.stdout);
});

test('The examples of the documentation compile, one after the other', { skip: compiler }, () => {
    const imported = new Set();
    const scopes = ['README.md', 'docs/browser.md'].map((name) => {
        const text = readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8');
        const blocks = [...text.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, block]) =>
            block.replace(/^import \{([^}]*)\} from '\/gatehouse.js';$/gm, (_, names) => {
                for (const one of names.split(',')) imported.add(one.trim());
                return '';
            }));
        // What one declares the next ones use, and may declare again.
        return blocks.reduceRight((rest, block) => `{\n${block}\n${rest}\n}`, '');
    });
    for (const name of ['Gatehouse', 'PlatformState', 'Auth', 'RuntimeClient', 'ExperienceClient']) assert.ok(imported.has(name), name);
    writeFileSync(join(place, 'documented.ts'), [
        `import { ${[...imported].join(', ')} } from 'gatehouse';`,
        'declare const email: string, password: string, id: string;', ...scopes,
    ].join('\n'));
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'es2022', '--moduleResolution', 'node',
        '--lib', 'es2022,dom,dom.iterable'];
    const found = spawnSync('tsc', [...options, 'documented.ts'], { cwd: place, encoding: 'utf8' });
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
