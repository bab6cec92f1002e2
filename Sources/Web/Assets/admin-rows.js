// @ts-check
/** Lists of the console: loaded, searched, and their rows ended. */

import { Trouble, ask, readList } from '/admin-api.js';
import { VirtualList } from '/admin-list.js';
import { at, badge, make } from '/admin-parts.js';

/**
 * Where trouble is told, and what assistive technology is to say.
 * @typedef {{tell: (error: unknown, doing: string) => void, calm: () => void, say: (text: string) => void}} Page
 */

/**
 * A list that is loaded, searched, and of which rows can be ended.
 * @typedef {object} Listing
 * @property {string} name       Of its elements.
 * @property {() => string} path
 * @property {string} member     Of a page of the answer.
 * @property {(row: any) => string} text   What is searched.
 * @property {any[]} columns
 * @property {number} [every]    Loaded again after so many milliseconds while it is in sight.
 */

export class ListView {
    /** @type {any[]} */ #all = [];
    /** Rows that were ended here, by id: `ending` or `ended`. @type {Map<string, string>} */ ends = new Map();
    #listing;
    #page;
    list;
    /** @type {AbortController|null} */ #loading = null;
    /** @type {ReturnType<typeof setTimeout>|undefined} */ #timer;

    /** @param {Listing} listing @param {Page} page */
    constructor(listing, page) {
        this.#listing = listing;
        this.#page = page;
        const { name, columns } = listing;
        this.list = new VirtualList(at(`${name}-list`), at(`${name}-title`).textContent, columns,
            (row) => this.ends.get(row.id) ?? '');
        at(`${name}-form`).addEventListener('submit', (/** @type {SubmitEvent} */ event) => {
            event.preventDefault();
            this.load();
        });
        at(`${name}-filter`).addEventListener('input', () => this.#filter());
        for (const choice of at(`${name}-form`).querySelectorAll('select')) choice.addEventListener('change', () => this.load());
    }

    /** @param {boolean} [quietly] keeps what is there until all of the new is */
    async load(quietly = false) {
        clearTimeout(this.#timer);
        this.#loading?.abort();
        const loading = this.#loading = new AbortController();
        const before = this.#all;
        /** @type {any[]} */
        const all = [];
        let shown = 0;
        try {
            await readList(this.#listing.path(), this.#listing.member, (rows, isAll) => {
                for (const row of rows) all.push(row);
                // What came is shown a few times a second, not with every piece.
                if (!isAll && (quietly || performance.now() - shown < 300)) return;
                shown = performance.now();
                this.#all = isAll ? this.#withEnded(all, before) : all;
                this.#filter();
            }, loading.signal);
            this.#page.calm();
        } catch (error) {
            if (loading === this.#loading) this.#page.tell(error, `Loading the ${this.#listing.name}`);
        }
        if (loading !== this.#loading) return;
        this.#loading = null;
        const { every } = this.#listing;
        if (every) this.#timer = setTimeout(() => this.load(true), every);
    }

    stop() {
        clearTimeout(this.#timer);
        this.#loading?.abort();
        this.#loading = null;
    }

    /** What was ended here stays in sight for a moment, struck out, though the gateway has it no more. */
    #withEnded(/** @type {any[]} */ rows, /** @type {any[]} */ before) {
        const there = new Set(rows.map(({ id }) => id));
        for (const [id, state] of this.ends) {
            if (there.has(id) || state !== 'ended') continue;
            const row = before.find((row) => row.id === id);
            if (row) rows.unshift(row);
        }
        return rows;
    }

    #filter() {
        const { name, text } = this.#listing;
        const wish = at(`${name}-filter`).value.trim().toLowerCase();
        const rows = wish ? this.#all.filter((row) => text(row).toLowerCase().includes(wish)) : this.#all;
        this.list.rows = rows;
        const all = this.#all.length.toLocaleString('en');
        at(`${name}-count`).textContent = wish ? `${rows.length.toLocaleString('en')} of ${all}` : all;
    }

    /** Asks, ends a row, and watches it go. @param {any} row @param {string} what @param {string} words @param {string} path */
    async end(row, what, words, path) {
        if (!(await sure(`End this ${what}?`, words))) return;
        this.ends.set(row.id, 'ending');
        this.list.refresh();
        try {
            await ask(path, { method: 'DELETE' });
        } catch (error) {
            if (!(error instanceof Trouble) || error.status !== 404) {
                this.ends.delete(row.id);
                this.list.refresh();
                return this.#page.tell(error, `Ending the ${what}`);
            }
        }
        this.ends.set(row.id, 'ended');
        this.#page.say(`The ${what} has ended.`);
        this.list.refresh();
        setTimeout(() => {
            this.ends.delete(row.id);
            this.#all = this.#all.filter(({ id }) => id !== row.id);
            this.#filter();
        }, 5_000);
    }

    /** The last cell of a row. @param {any} row @param {string} what @param {() => void} job */
    endCell(row, what, job) {
        const state = this.ends.get(row.id);
        if (state) return badge(state, state === 'ended' ? 'bad' : 'warn');
        const button = make('button', 'quiet', 'End');
        button.setAttribute('aria-label', `End ${what} ${String(row.id).slice(0, 12)}`);
        button.addEventListener('click', job);
        return button;
    }
}

/** Whom the question that is open is answered to. @type {(is: boolean) => void} */
let decide = () => {};

/** @param {string} title @param {string} words @returns {Promise<boolean>} */
function sure(title, words) {
    decide(false);
    at('ask-title').textContent = title;
    at('ask-words').textContent = words;
    if (!at('ask').open) at('ask').showModal();
    at('ask-no').focus();
    return new Promise((resolve) => {
        decide = (is) => {
            decide = () => {};
            at('ask').close();
            resolve(is);
        };
    });
}

at('ask-form').addEventListener('submit', (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    decide(event.submitter === at('ask-yes'));
});
// Escape.
at('ask').addEventListener('cancel', (/** @type {Event} */ event) => {
    event.preventDefault();
    decide(false);
});
