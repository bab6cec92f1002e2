// @ts-check
/** Lines over time, drawn as SVG. The caption says the newest values in words, for those who do not see the lines. */

const SVG = 'http://www.w3.org/2000/svg';
/** How many readings a chart shows. */
const MOST = 120;
const [WIDTH, HEIGHT] = [600, 150];

/** @param {string} tag @param {Record<string, string|number>} attributes */
function draw(tag, attributes) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    return element;
}

/** @param {string} tag @param {string} className @param {...(Node|string)} children */
function make(tag, className, ...children) {
    const element = document.createElement(tag);
    element.className = className;
    element.append(...children);
    return element;
}

/** A chart in a `figure`: `add` a reading every few seconds. */
export class Chart {
    #figure;
    #title;
    #format;
    #span;
    /** @type {Map<string, (number|null)[]>} */ #lines = new Map();
    #count = 0;

    /**
     * @param {HTMLElement} figure @param {string} title @param {(value: number) => string} format
     * @param {number} every how often a reading comes, in milliseconds
     */
    constructor(figure, title, format, every) {
        this.#figure = figure;
        this.#title = title;
        this.#format = format;
        this.#span = `${Math.round((MOST * every) / 60_000)} min ago`;
        this.#show();
    }

    /** @param {Map<string, number|null>} values by name; at most six lines are drawn */
    add(values) {
        for (const name of values.keys()) {
            if (!this.#lines.has(name)) this.#lines.set(name, Array(this.#count).fill(null));
        }
        this.#count = Math.min(MOST, this.#count + 1);
        for (const [name, line] of this.#lines) {
            line.push(values.get(name) ?? null);
            if (line.length > MOST) line.shift();
            // A line without a value in sight makes room.
            if (line.every((value) => !value) && !values.has(name)) this.#lines.delete(name);
        }
        this.#show();
    }

    #show() {
        const names = [...this.#lines.keys()].slice(0, 6);
        const most = Math.max(0, ...names.flatMap((name) => (this.#lines.get(name) ?? []).map((value) => value ?? 0)));
        const top = niceTop(most);
        const svg = draw('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
        for (const part of [0, 0.5, 1]) {
            const y = HEIGHT * part;
            svg.append(draw('line', { x1: 0, x2: WIDTH, y1: y, y2: y }));
        }
        names.forEach((name, index) => {
            const path = draw('path', { d: this.#path(this.#lines.get(name) ?? [], top) });
            path.setAttribute('class', `ink-${index}`);
            svg.append(path);
        });
        const keys = names.map((name, index) => {
            const value = this.#lines.get(name)?.at(-1) ?? null;
            return make('span', `key ink-${index}`, `${name} ${value === null ? '–' : this.#format(value)}`);
        });
        const empty = names.length === 0 ? [make('span', 'aside', 'nothing yet')] : [];
        this.#figure.replaceChildren(
            make('figcaption', '', make('strong', '', this.#title), ...keys, ...empty), svg,
            make('div', 'scale', ...[this.#span, `highest line: ${this.#format(top)}`, 'now'].map((text) => make('span', '', text))));
    }

    /** @param {(number|null)[]} line @param {number} top */
    #path(line, top) {
        const step = WIDTH / (MOST - 1);
        const start = WIDTH - (line.length - 1) * step;
        let path = '';
        let pen = 'M';
        line.forEach((value, index) => {
            if (value === null) { pen = 'M'; return; }
            const y = HEIGHT - (HEIGHT * Math.min(value, top)) / top;
            path += `${pen}${(start + index * step).toFixed(1)} ${y.toFixed(1)}`;
            pen = 'L';
        });
        return path;
    }
}

/** The next number of the kind 1, 2, 5, 10, … @param {number} value */
export function niceTop(value) {
    if (!(value > 0) || !Number.isFinite(value)) return 1;
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((part) => part * power).find((top) => top >= value * 0.999) ?? value;
}
